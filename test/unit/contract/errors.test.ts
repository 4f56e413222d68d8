import { describe, expect, it } from 'vitest';
import { errors, PaymentError } from '../../../contract/errors.ts';

it('every error code has a fixed status', () => {
  const byStatus = Object.entries(
    Object.groupBy(Object.entries(errors), ([, { status }]) => status),
  );
  expect(
    byStatus.map(([status, codes]) => `${status} ${codes?.map(([code]) => code).join(' ')}`),
  ).toEqual([
    '400 MALFORMED_JSON INVALID_IDEMPOTENCY_KEY IDEMPOTENCY_KEY_REQUIRED',
    '401 UNAUTHENTICATED INVALID_TOKEN',
    '403 APPLICATION_DISABLED INSUFFICIENT_SCOPE GATEWAY_NOT_ALLOWED REFUND_NOT_ALLOWED',
    '404 PAYMENT_NOT_FOUND REFUND_NOT_FOUND EVENT_NOT_FOUND REPLAY_NOT_FOUND NOT_FOUND',
    '405 METHOD_NOT_ALLOWED',
    '409 REPLAY_NOT_POSSIBLE REFUND_IN_PROGRESS REFUNDABLE_AMOUNT_CHANGED REFUND_NOT_CANCELLABLE PAYMENT_NOT_CANCELLABLE',
    '413 PAYLOAD_TOO_LARGE',
    '415 UNSUPPORTED_MEDIA_TYPE',
    '422 VALIDATION_FAILED IDEMPOTENCY_KEY_REUSED PAYMENT_NOT_REFUNDABLE REFUND_EXCEEDS_PAYMENT REFUND_NOT_SUPPORTED',
    '429 RATE_LIMITED',
    '500 INTERNAL',
    '502 GATEWAY_UNAVAILABLE',
    '503 SERVICE_UNAVAILABLE',
  ]);
});

describe('PaymentError', () => {
  it('carries its code, its details and its cause', () => {
    const cause = new Error('inner');
    const error = new PaymentError('RATE_LIMITED', 'Too many requests.', {
      cause,
      details: { retry_after: 7 },
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'PaymentError',
      code: 'RATE_LIMITED',
      message: 'Too many requests.',
      details: { retry_after: 7 },
      cause,
    });
  });

  it('has the meaning of its code as its message if it is given none', () => {
    const error = new PaymentError('NOT_FOUND', undefined, { details: { retry_after: 7 } });
    expect(error).toMatchObject({ message: errors.NOT_FOUND.meaning, details: { retry_after: 7 } });
  });

  it('has no details unless they are given', () => {
    expect(new PaymentError('NOT_FOUND', 'There is nothing here.').details).toBeUndefined();
  });
});
