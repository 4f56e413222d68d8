import { refundEventId } from '../../contract/ids.ts';
import { RefundEventBody } from '../../contract/refund-event-schema.ts';
import type { RefundResponse } from '../../contract/refund-responses.ts';
import { paymentExamples } from '../payments/payment-examples.ts';

const { payment_id, application, order_id, currency, test } = paymentExamples.paid;

const reserved: RefundResponse = {
  refund_id: 'REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV',
  payment_id,
  application,
  order_id,
  status: 'pending',
  stage: 'reserved',
  amount: 600,
  currency,
  method: 'refund',
  requested_by: 'application',
  reason: 'requested_by_customer',
  reference: 'return-77',
  bank_reference: null,
  failure_code: null,
  failure_reason: null,
  expected_at: null,
  test,
  metadata: {},
  succeeded_at: null,
  failed_at: null,
  created_at: '2026-11-21T08:15:00.201+00:00',
  updated_at: '2026-11-21T08:15:00.201+00:00',
};

export const refundExamples = {
  reserved,
  succeeded: {
    ...reserved,
    status: 'succeeded',
    stage: null,
    bank_reference: '24011346324000012345678',
    succeeded_at: '2026-11-21T08:15:01.733+00:00',
    updated_at: '2026-11-21T08:15:01.733+00:00',
  },
  cancelled: {
    ...reserved,
    status: 'failed',
    stage: null,
    failure_code: 'cancelled',
    failure_reason: 'The refund was cancelled before the gateway carried it out.',
    failed_at: '2026-11-21T08:15:01.733+00:00',
    updated_at: '2026-11-21T08:15:01.733+00:00',
  },
} satisfies Record<string, RefundResponse>;

/** The event of the refund that succeeded; the schema picks the fields of an event and their order. */
export const refundEventExamples = {
  succeeded: RefundEventBody.parse({
    ...paymentExamples.paid,
    ...refundExamples.succeeded,
    event: 'refund.succeeded',
    event_id: refundEventId(reserved.refund_id, 'refund.succeeded'),
    created_at: refundExamples.succeeded.updated_at,
    sequence: 2,
    payment_amount: paymentExamples.paid.amount,
    amount_refunded: reserved.amount,
    amount_refund_pending: 0,
  }),
} satisfies Record<string, RefundEventBody>;
