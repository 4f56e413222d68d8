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

/** The result of one POST. */
export interface AttemptResult {
  durationMs: number;
  responseStatus: number | null;
  /** Null if the receiver accepted the webhook. */
  errorClass: ErrorClass | null;
  error: string | null;
  responseBody: string | null;
  responseTruncated: boolean;
}

/** An attempt of the ledger. Temporal's clock is kept apart from ours: a test can skip its time. */
export interface PastAttempt {
  number: number;
  /** When it was due, by Temporal's clock. */
  scheduledAt: Date;
  /** By the worker's clock. */
  startedAt: Date;
  completed: boolean;
  durationMs: number | null;
}
