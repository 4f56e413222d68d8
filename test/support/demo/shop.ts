import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { onTestFinished } from 'vitest';
import type { Client, Payment } from '../../../demo/client.ts';
import { createOrders } from '../../../demo/orders.ts';
import { createShop } from '../../../demo/routes.ts';

const webhookSecret = `whsec_${'s'.repeat(43)}`;

export const aPayment = (changes: Partial<Payment> = {}): Payment => ({
  payment_id: 'PAY_1',
  order_id: 'C-1',
  status: 'pending',
  amount: 1290,
  currency: 'EUR',
  checkout_url: 'http://127.0.0.1:9/checkout',
  failure_reason: null,
  metadata: { item: 'Morning beans' },
  created_at: '2026-11-20T10:41:37.123+00:00',
  ...changes,
});

export const anEvent = (changes: object = {}) => ({
  event: 'payment.paid',
  event_id: 'e-1',
  ...aPayment({ status: 'paid' }),
  ...changes,
});

/** The shop behind real HTTP, with a fake client of the payment service. */
export const aShop = async (client: Partial<Client> = {}) => {
  const orders = createOrders();
  const log: string[] = [];
  const { app, close } = createShop({
    client: {
      create: async (order) => aPayment({ ...order, metadata: order.metadata ?? {} }),
      get: async () => undefined,
      list: async () => [],
      ...client,
    },
    orders,
    connection: { webhookSecret, workflowUrl: () => null },
    log: (line) => log.push(line),
  });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    orders,
    log,
    page: async (path: string) => (await fetch(url + path)).text(),
    buy: (product: string) =>
      fetch(`${url}/buy`, {
        method: 'POST',
        body: new URLSearchParams({ product }),
        redirect: 'manual',
      }),
    webhook: (event: object, { secret = webhookSecret, timestamp = Date.now() / 1000 } = {}) => {
      const payload = JSON.stringify(event);
      const header = new Stripe('sk_test_none').webhooks.generateTestHeaderString({
        payload,
        secret,
        timestamp: Math.floor(timestamp),
      });
      return fetch(`${url}/webhook`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-signature': header },
        body: payload,
      });
    },
  };
};
