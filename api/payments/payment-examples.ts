import { EventBody } from '../../contract/event-schema.ts';
import { eventKind } from '../../contract/event.ts';
import { eventId } from '../../contract/ids.ts';
import { presentPayment } from '../../contract/payment.ts';
import { blankPayment, type Payment } from '../../contract/payment-fields.ts';
import { PaymentResponse } from '../../contract/payment-responses.ts';
import type { TerminalStatus } from '../../contract/status.ts';

const created: Payment = {
  ...blankPayment,
  id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  application: 'shop',
  orderId: 'order-1042',
  status: 'pending',
  amount: 1250,
  currency: 'EUR',
  gateway: 'sandbox',
  description: 'Two tickets',
  callbackUrl: 'https://shop.example/return',
  test: true,
  metadata: '{"seat":"12A"}',
  expiresAt: new Date('2026-11-20T11:11:37.123Z'),
  createdAt: new Date('2026-11-20T10:41:37.123Z'),
  updatedAt: new Date('2026-11-20T10:41:37.123Z'),
};
const pending = PaymentResponse.parse(JSON.parse(presentPayment(created, 'https://pay.example')));

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
    next_step: 'other_card',
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
    ...Object.fromEntries(
      Object.entries(payment).filter(([name]) => name !== 'cancelled_by' && name !== 'link_id'),
    ),
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
