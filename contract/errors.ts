/** Every code the API can answer with. `retryable`: the same request may succeed later. */
export const errors = {
  MALFORMED_JSON: { status: 400, retryable: false },
  INVALID_IDEMPOTENCY_KEY: { status: 400, retryable: false },
  UNAUTHENTICATED: { status: 401, retryable: false },
  INVALID_TOKEN: { status: 401, retryable: false },
  APPLICATION_DISABLED: { status: 403, retryable: false },
  GATEWAY_NOT_ALLOWED: { status: 403, retryable: false },
  PAYMENT_NOT_FOUND: { status: 404, retryable: false },
  NOT_FOUND: { status: 404, retryable: false },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false },
  VALIDATION_FAILED: { status: 422, retryable: false },
  IDEMPOTENCY_KEY_REUSED: { status: 422, retryable: false },
  RATE_LIMITED: { status: 429, retryable: true },
  INTERNAL: { status: 500, retryable: true },
  GATEWAY_UNAVAILABLE: { status: 502, retryable: true },
  SERVICE_UNAVAILABLE: { status: 503, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>;

export type ErrorCode = keyof typeof errors;

/** One thing wrong with a request; `path` is dotted, empty for the body itself. */
export interface FieldError {
  path: string;
  rule: string;
  message: string;
}

export interface ErrorDetails {
  fields?: readonly FieldError[];
  /** Seconds. */
  retry_after?: number;
}

/** A failure with an answer: its code is contract, its message may be shown to the caller. */
export class PaymentError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & { details?: ErrorDetails },
  ) {
    super(message, options);
    this.name = 'PaymentError';
    this.code = code;
    this.details = options?.details;
  }
}
