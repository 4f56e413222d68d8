import type { ErrorCode, ErrorDetails } from './types.ts';

interface Facts extends ErrorOptions {
  retryable?: boolean;
  idempotencyKey?: string | undefined;
}

/** The base of all errors of this package. They hold neither the token nor a body that was sent. */
export class PaymentsError extends Error {
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /**
   * The key of a create. Pass it again with the same body: within 24 hours it makes no second payment, and never a
   * second refund.
   */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { retryable = false, idempotencyKey, ...options }: Facts = {}) {
    super(message, options);
    this.name = new.target.name;
    this.retryable = retryable;
    this.idempotencyKey = idempotencyKey;
  }
}

export interface ApiErrorFacts extends Facts {
  code: ErrorCode;
  status: number;
  requestId?: string | undefined;
  details?: ErrorDetails | undefined;
  retryAfterSeconds?: number | undefined;
}

/** The service has answered with an error. */
export class ApiError extends PaymentsError {
  /** `UNEXPECTED_RESPONSE` when the answer is not the service's, but for instance a proxy's page. */
  readonly code: ErrorCode;
  readonly status: number;
  /** Name it when you report a problem: every log line of the service has it. */
  readonly requestId: string | undefined;
  readonly details: ErrorDetails | undefined;
  /** When to try again, where the service says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, { code, status, ...facts }: ApiErrorFacts) {
    super(message, facts);
    this.code = code;
    this.status = status;
    this.requestId = facts.requestId;
    this.details = facts.details;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** No complete answer has arrived, or the caller's signal has ended the call. The outcome is unknown. */
export class ConnectionError extends PaymentsError {}

/** A try took longer than `timeoutMs`. The outcome is unknown. */
export class TimeoutError extends ConnectionError {}

/** Why a webhook was rejected. */
export type SignatureProblem =
  'body' | 'secret' | 'size' | 'missing' | 'malformed' | 'time' | 'mismatch';

/** A webhook that cannot be trusted. Do nothing but answer with `status`; Express and Koa do so by themselves. */
export class SignatureError extends PaymentsError {
  /** `body` and `secret` are mistakes of the receiver; the others are of the request. */
  readonly reason: SignatureProblem;
  readonly status: 400 | 413 | 500;
  /** Koa and others print a stack for each error that does not say so. */
  readonly expose: boolean;

  constructor(reason: SignatureProblem, message: string) {
    super(message);
    this.reason = reason;
    const isOwnMistake = reason === 'body' || reason === 'secret';
    this.status = isOwnMistake ? 500 : reason === 'size' ? 413 : 400;
    this.expose = !isOwnMistake;
  }
}
