import { limits } from './limits.ts';

/** Every code the API can answer with. `meaning`: its message, unless an answer's own says more. */
export const errors = {
  MALFORMED_JSON: { status: 400, meaning: 'The body is not acceptable JSON in UTF-8.' },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    meaning: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.',
  },
  UNAUTHENTICATED: { status: 401, meaning: 'The Authorization header is missing.' },
  INVALID_TOKEN: { status: 401, meaning: 'The token is unknown, revoked or expired.' },
  APPLICATION_DISABLED: { status: 403, meaning: 'The application was disabled by an admin.' },
  GATEWAY_NOT_ALLOWED: { status: 403, meaning: 'A test token may use sandbox gateways only.' },
  PAYMENT_NOT_FOUND: { status: 404, meaning: 'There is no such payment.' },
  NOT_FOUND: { status: 404, meaning: 'There is nothing at this path.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path has other methods, see Allow.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: `The body is larger than ${limits.bodyKb} KB.` },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'The body has another content type or encoding than the operation takes.',
  },
  VALIDATION_FAILED: {
    status: 422,
    meaning: 'Something in the request is not valid, see details.fields.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: 'The Idempotency-Key was used with another body.',
  },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests.' },
  INTERNAL: { status: 500, meaning: 'Something went wrong on our side.' },
  GATEWAY_UNAVAILABLE: {
    status: 502,
    meaning: 'The gateway did not give an answer; the payment is unchanged.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'The service, or a part it needs, is not available at the moment.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errors;

/**
 * Of what is wrong with a field. An open set for callers; these are what this service answers. The first
 * are zod's own words, kept as they are: another version of it may have others.
 */
export const fieldRules: readonly string[] = [
  ...['invalid_type', 'invalid_format', 'invalid_value', 'too_small', 'too_big'],
  ...['unknown_field', 'repeated', 'exclusive', 'length', 'nul', 'time', 'cursor', 'currency'],
  ...['keys', 'key_length', 'bytes', 'depth', 'registered', 'in_use', 'signature'],
  ...['gateway_currency', 'gateway_bounds', 'gateway_step'],
];

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
    message: string = errors[code].meaning,
    options?: ErrorOptions & { details?: ErrorDetails },
  ) {
    super(message, options);
    this.name = 'PaymentError';
    this.code = code;
    this.details = options?.details;
  }
}
