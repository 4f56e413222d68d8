import { createServer } from 'node:http';
import Stripe from 'stripe';
import { onTestFinished } from 'vitest';
import { paymentExamples } from '../../../api/payments/payment-examples.ts';
import { ApiError, type Payment, Payments } from '../../../client/src/index.ts';
import { createInbox } from '../../../client/src/inbox.ts';
import { createOrders, type RefundState } from '../../../demo/orders.ts';
import { createShop, type Deps, type PaymentCalls } from '../../../demo/routes.ts';
import { listenOnLoopback } from '../servers/listen.ts';

const webhookSecret = `whsec_${'s'.repeat(43)}`;

export const aPayment = (changes: Partial<Payment> = {}): Payment => ({
  ...paymentExamples.pending,
  payment_id: 'PAY_1',
  application: 'demo-shop',
  order_id: 'C-1',
  amount: 1290,
  currency: 'EUR',
  checkout_url: 'http://127.0.0.1:9/checkout',
  callback_url: 'http://127.0.0.1:9/return',
  metadata: { item: 'Morning beans' },
  ...changes,
});

export const anEvent = (changes: object = {}) => ({
  event: 'payment.paid',
  event_id: 'e-1',
  ...aPayment({ status: 'paid' }),
  ...changes,
});

export const aRefund = (changes: Partial<RefundState> = {}): RefundState => ({
  ...{ refund_id: 'REFUND_1', payment_id: 'PAY_1', amount: 1290, status: 'pending' },
  ...changes,
});

/** The event of a refund that ended well. */
export const aRefundEvent = (changes: object = {}) => ({
  ...anEvent(),
  ...{ event: 'refund.succeeded', event_id: 'e-2', sequence: 2, payment_amount: 1290 },
  ...aRefund({ status: 'succeeded' }),
  ...changes,
});

/** The shop behind real HTTP, with a fake client of the payment service. */
export const aShop = async (
  payments: Partial<PaymentCalls> = {},
  { gateways }: Pick<Deps, 'gateways'> = {},
) => {
  const orders = createOrders(':memory:');
  const client = new Payments({ baseUrl: 'http://127.0.0.1:9', token: 'svc_test_none' });
  const inbox = createInbox({
    ...orders.inbox,
    client,
    secret: webhookSecret,
    since: new Date(0),
  });
  const log: string[] = [];
  const server = createServer((request, response) => void handle(request, response));
  const port = await listenOnLoopback(server);
  const url = `http://127.0.0.1:${port}`;
  const { app, close } = createShop({
    payments: {
      create: async ({ order_id, amount }) => aPayment({ order_id, amount }),
      get: async () => {
        throw new ApiError('There is no such payment.', { code: 'PAYMENT_NOT_FOUND', status: 404 });
      },
      refunds: { create: async (payment_id) => aRefund({ payment_id }) },
      ...payments,
    },
    ...(gateways && { gateways }),
    orders,
    inbox,
    connection: { shopUrl: url, workflowUrl: () => null },
    log: (line) => log.push(line),
  });
  const handle = app.callback();
  onTestFinished(() => {
    close();
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    orders,
    log,
    page: async (path: string) => (await fetch(url + path)).text(),
    buy: (product: string, choice: { gateway?: string } = {}) =>
      fetch(`${url}/buy`, {
        method: 'POST',
        body: new URLSearchParams({ product, ...choice }),
        redirect: 'manual',
      }),
    webhook: (event: object) => {
      const payload = JSON.stringify(event);
      const header = new Stripe('sk_test_none').webhooks.generateTestHeaderString({
        payload,
        secret: webhookSecret,
      });
      return fetch(`${url}/webhook`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-signature': header },
        body: payload,
      });
    },
  };
};
