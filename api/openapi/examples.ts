import type {
  ApplicationResponse,
  PaymentResponse,
  PaymentListResponse,
} from '../../contract/responses.ts';
import type { CreatePayment } from '../../contract/create-payment.ts';
import { EventBody } from '../../contract/event-schema.ts';
import { eventKind } from '../../contract/event.ts';
import { eventId } from '../../contract/ids.ts';
import type { TerminalStatus } from '../../contract/status.ts';
import type { z } from 'zod';
import type { Invalid } from '../http/route.ts';

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
} satisfies Record<string, PaymentResponse>;

/** The event of a payment above: the schema takes what is the event's, in its order. */
const eventExample = (payment: PaymentResponse, status: TerminalStatus): EventBody =>
  EventBody.parse({
    ...payment,
    event: eventKind(status),
    event_id: eventId(payment.payment_id),
    created_at: payment.updated_at,
    status,
  });

export const eventExamples = {
  paid: eventExample(paymentExamples.paid, 'paid'),
  failed: eventExample(paymentExamples.failed, 'failed'),
} satisfies Record<string, EventBody>;

export const createExamples = {
  smallest: { order_id: 'order-1042', amount: 1250, currency: 'EUR' },
  everything: {
    order_id: 'order-1042',
    amount: 1250,
    currency: 'EUR',
    callback_url: 'https://shop.example/return',
    gateway: 'sandbox',
    description: 'Two tickets',
    metadata: { seat: '12A' },
    expires_in: 900,
  },
} satisfies Record<string, z.input<typeof CreatePayment>>;

/** What is answered to an amount of 0. */
export const invalidCreate: Invalid = {
  message: 'The body is not valid, see details.fields.',
  fields: [
    {
      path: 'amount',
      rule: 'too_small',
      message: 'must be an integer from 1 to 999999999999, written without fraction or exponent',
    },
  ],
};

/** What is answered to a `per_page` of 0. */
export const invalidList: Invalid = {
  message: 'The query is not valid, see details.fields.',
  fields: [
    { path: 'per_page', rule: 'invalid_format', message: 'must be an integer from 1 to 100' },
  ],
};

export const listExample: PaymentListResponse = {
  data: [paymentExamples.paid],
  pagination: {
    page: 1,
    per_page: 1,
    has_more: true,
    next_cursor: 'MToxNzk1MTcxMjk3MTIzOlBBWV8wMUs5WjVXNlg3WThaQUJDREVGR0hKS01OUA',
  },
};

export const applicationExample: ApplicationResponse = {
  application: 'shop',
  status: 'active',
  default_gateway: { slug: 'sandbox', kind: 'sandbox' },
  callback_urls: ['https://shop.example/return'],
  webhook_url: 'https://shop.example/webhook',
  token_mode: 'test',
};
