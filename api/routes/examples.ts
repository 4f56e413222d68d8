import type {
  ApplicationAnswer,
  PaymentAnswer,
  PaymentListAnswer,
} from '../../contract/answers.ts';
import type { CreatePayment } from '../../contract/create-payment.ts';
import type { z } from 'zod';

const pending: PaymentAnswer = {
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
} satisfies Record<string, PaymentAnswer>;

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

export const listExample: PaymentListAnswer = {
  data: [paymentExamples.paid],
  pagination: {
    page: 1,
    per_page: 1,
    has_more: true,
    next_cursor: 'MToxNzk1MTcxMjk3MTIzOlBBWV8wMUs5WjVXNlg3WThaQUJDREVGR0hKS01OUA',
  },
};

export const applicationExample: ApplicationAnswer = {
  application: 'shop',
  status: 'active',
  default_gateway: { slug: 'sandbox', kind: 'sandbox' },
  callback_urls: ['https://shop.example/return'],
  webhook_url: 'https://shop.example/webhook',
  token_mode: 'test',
};
