import { EventBody } from '../../contract/event-schema.ts';
import { eventKind } from '../../contract/event.ts';
import { eventId } from '../../contract/ids.ts';
import type { PaymentResponse } from '../../contract/payment-responses.ts';
import type { TerminalStatus } from '../../contract/status.ts';

const pending: PaymentResponse = {
  payment_id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  application: 'shop',
  order_id: 'order-1042',
  status: 'pending',
  amount: 1250,
  currency: 'EUR',
  gateway: 'sandbox',
  description: 'Two tickets',
  checkout_url: 'https://pay.example/api/v1/payments/PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP/checkout',
  callback_url: 'https://shop.example/return',
  tracking_code: null,
  card_pan_masked: null,
  paid_at: null,
  failure_code: null,
  failure_reason: null,
  cancelled_by: null,
  cancellation_reason: null,
  amount_refunded: 0,
  amount_refund_pending: 0,
  refundable: 0,
  refundable_until: null,
  test: true,
  metadata: { seat: '12A' },
  expires_at: '2026-11-20T11:11:37.123+00:00',
  created_at: '2026-11-20T10:41:37.123+00:00',
  updated_at: '2026-11-20T10:41:37.123+00:00',
};

export const paymentExamples = {
  pending,
  paid: {
    ...pending,
    status: 'paid',
    checkout_url: null,
    tracking_code: 'T-84731',
    card_pan_masked: '502229******1234',
    paid_at: '2026-11-20T10:44:02.518+00:00',
    refundable: 1250,
    updated_at: '2026-11-20T10:44:02.518+00:00',
  },
  failed: {
    ...pending,
    status: 'failed',
    checkout_url: null,
    failure_code: 'insufficient_funds',
    failure_reason: 'The card or account does not have enough funds.',
    updated_at: '2026-11-20T10:44:02.518+00:00',
  },
  cancelled: {
    ...pending,
    status: 'cancelled',
    checkout_url: null,
    cancelled_by: 'application',
    cancellation_reason: 'Out of stock',
    updated_at: '2026-11-20T10:44:02.518+00:00',
  },
} satisfies Record<string, PaymentResponse>;

/** The event of a payment above; the schema picks the fields of an event and their order. */
const eventExample = (payment: PaymentResponse, status: TerminalStatus) => {
  const event = eventKind(status);
  const body = EventBody.parse({
    ...Object.fromEntries(Object.entries(payment).filter(([name]) => name !== 'cancelled_by')),
    event,
    event_id: eventId(payment.payment_id),
    created_at: payment.updated_at,
    status,
  });
  // With the types of the known values.
  return { ...body, event, status };
};

export const eventExamples = {
  paid: eventExample(paymentExamples.paid, 'paid'),
  failed: eventExample(paymentExamples.failed, 'failed'),
} satisfies Record<string, EventBody>;
