/** ISO 8601 in UTC with milliseconds and `+00:00`, the one form in which the service writes time. */
export const isoTime = (time: Date): string => time.toISOString().replace('Z', '+00:00');
