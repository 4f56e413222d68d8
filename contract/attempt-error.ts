/** The classes of a failed attempt. Readers of the API treat them as an open set. */
export const errorClasses = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'reset',
  'blocked',
  'http_status',
  'protocol',
  'no_url',
] as const;
export type ErrorClass = (typeof errorClasses)[number];
