/** Codes of an open connection that broke: postgres.js's own and those of the operating system. */
const connectionLost: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** `query_canceled`: by statement_timeout, or by a person. */
const queryCanceled = '57014';

const unavailable: ReadonlySet<string> = new Set([
  ...connectionLost,
  'CONNECT_TIMEOUT',
  'CONNECTION_ENDED',
  'ECONNREFUSED',
  // The query timed out on our side, see query-timeout.ts.
  'NO_ANSWER',
  // The name server does not know the host, is temporarily unavailable, or failed.
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  // Postgres is shutting down, has crashed, is starting, or has no connection left.
  '57P01',
  '57P02',
  '57P03',
  '53300',
  // Its disk or its memory is full, or its disk fails.
  '53000',
  '53100',
  '53200',
  '58030',
  queryCanceled,
  // Read-only: a standby, until the host name leads to the new primary.
  '25006',
]);

const hasCode = (error: unknown, codes: ReadonlySet<string>): boolean =>
  error instanceof Error && 'code' in error && codes.has(String(error.code));

/** An open connection broke. */
export const isConnectionLost = (error: unknown): boolean => hasCode(error, connectionLost);

/** Postgres ended the connection: it closes it after a fatal error. */
export const isConnectionEnded = (error: unknown): boolean =>
  isConnectionLost(error) ||
  (error instanceof Error && 'severity' in error && error.severity === 'FATAL');

/** Postgres is not available, as opposed to having rejected a query. */
export const isPostgresUnavailable = (error: unknown): boolean => hasCode(error, unavailable);

/** The query was cancelled because it took too long, or by a person. */
export const isQueryCanceled = (error: unknown): boolean =>
  hasCode(error, new Set([queryCanceled]));

/** The error with which postgres.js rejects a query whose connection closed. */
export const connectionClosed = (message: string): Error =>
  Object.assign(new Error(message), { code: 'CONNECTION_CLOSED' });
