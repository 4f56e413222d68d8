export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** ISO 8601 in UTC with milliseconds and `+00:00`: the only form in which the service writes times. */
export const isoTime = (time: Date): string => time.toISOString().replace('Z', '+00:00');
