import { limits } from './limits.ts';
import type { Status } from './status.ts';

/** Every error code of the API. `meaning` is the message unless a response has a more specific one. */
export const errors = {
  MALFORMED_JSON: { status: 400, meaning: 'The body is not valid JSON in UTF-8.' },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    meaning: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.',
  },
  IDEMPOTENCY_KEY_REQUIRED: { status: 400, meaning: 'A refund needs an Idempotency-Key.' },
  UNAUTHENTICATED: { status: 401, meaning: 'The Authorization header is missing.' },
  INVALID_TOKEN: { status: 401, meaning: 'The token is unknown, revoked or expired.' },
  APPLICATION_DISABLED: { status: 403, meaning: 'An admin has disabled the application.' },
  INSUFFICIENT_SCOPE: { status: 403, meaning: 'The token lacks the scope for this operation.' },
  GATEWAY_NOT_ALLOWED: { status: 403, meaning: 'A test token may use sandbox gateways only.' },
  REFUND_NOT_ALLOWED: {
    status: 403,
    meaning: 'The application has used up what it may refund today, see details.',
  },
  PAYMENT_NOT_FOUND: { status: 404, meaning: 'There is no such payment.' },
  REFUND_NOT_FOUND: { status: 404, meaning: 'There is no such refund.' },
  LINK_NOT_FOUND: { status: 404, meaning: 'There is no such link.' },
  DISPUTE_NOT_FOUND: { status: 404, meaning: 'There is no such dispute.' },
  EVENT_NOT_FOUND: { status: 404, meaning: 'There is no such event.' },
  REPLAY_NOT_FOUND: { status: 404, meaning: 'There is no such replay.' },
  NOT_FOUND: { status: 404, meaning: 'This path does not exist.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path does not support this method, see Allow.' },
  REPLAY_NOT_POSSIBLE: {
    status: 409,
    meaning: 'The event cannot be delivered again, or another replay is running.',
  },
  REFUND_IN_PROGRESS: {
    status: 409,
    meaning: 'The gateway takes one refund of a payment at a time, and one is pending.',
  },
  REFUNDABLE_AMOUNT_CHANGED: {
    status: 409,
    meaning: 'Another amount is left than the request says, see details.',
  },
  REFUND_NOT_CANCELLABLE: {
    status: 409,
    meaning: 'The refund has ended, or the gateway was told already.',
  },
  PAYMENT_NOT_CANCELLABLE: {
    status: 409,
    meaning: 'The payment has ended, or its money is on its way; see details.',
  },
  ORDER_ALREADY_PAID: {
    status: 409,
    meaning: 'Another payment has paid the order, see details.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: `The body is larger than ${limits.requestBodyKb} KB.`,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'The operation does not accept this content type or encoding.',
  },
  VALIDATION_FAILED: {
    status: 422,
    meaning: 'The request is not valid, see details.fields.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: 'The Idempotency-Key was used with another body.',
  },
  PAYMENT_NOT_REFUNDABLE: {
    status: 422,
    meaning: 'Only a paid payment can be refunded, and only while its gateway gives money back.',
  },
  REFUND_EXCEEDS_PAYMENT: {
    status: 422,
    meaning: 'The amount is more than is left of the payment, see details.',
  },
  REFUND_NOT_SUPPORTED: { status: 422, meaning: 'The gateway cannot make this refund.' },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests.' },
  INTERNAL: { status: 500, meaning: 'The service has failed to handle the request.' },
  GATEWAY_UNAVAILABLE: {
    status: 502,
    meaning: 'The gateway did not answer; the payment is unchanged.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'The service, or a system that it needs, is temporarily unavailable.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errors;

/** The rules that a field can break. Callers treat it as an open set. */
export const fieldRules: readonly string[] = [
  // These names are zod's; another version of zod may have others.
  'invalid_type',
  'invalid_format',
  'invalid_value',
  'too_small',
  'too_big',
  'unknown_field',
  'repeated',
  'exclusive',
  'length',
  'nul',
  'time',
  'cursor',
  'currency',
  'keys',
  'key_length',
  'bytes',
  'depth',
  'registered',
  'in_use',
  'kind',
  'signature',
  'gateway_currency',
  'gateway_bounds',
  'gateway_step',
  'sandbox_only',
];

/** One problem of a request. */
export interface FieldError {
  /** Dotted; empty for the body itself. */
  path: string;
  rule: string;
  message: string;
}

export interface ErrorDetails {
  fields?: readonly FieldError[];
  /** Seconds. */
  retry_after?: number;
  /** The replay that is running. */
  replay_id?: string;
  /** The payment that has paid the order. */
  payment_id?: string;
  /** The payment's. */
  status?: Status;
  /** The amounts of the payment that a refund does not fit, in minor units. */
  amount?: number;
  amount_refunded?: number;
  amount_refund_pending?: number;
  amount_disputed?: number;
  refundable?: number;
  /** The amount that an application may refund in a day, and the part that is used, in minor units. */
  limit?: number;
  used?: number;
}

/** A failure that the API reports. Its code is part of the contract; its message is shown to the caller. */
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
