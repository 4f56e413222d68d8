import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Connection, DemoError } from './connection.ts';
import { parseJson, send } from './http.ts';
import { comeBack, pay } from './payer.ts';
import { createPaymentsClient, paymentOf } from './payments-client.ts';
import { verifySignature } from './signature.ts';
import type { Terminal } from './terminal.ts';

/** How long the demo waits for what comes about by itself. */
const limits = { paidMs: 20_000, webhookMs: 30_000 };

/**
 * One payment from its creation to its verified webhook, told step by step.
 * @throws DemoError with the one thing that did not happen
 */
export const journey = async (
  connection: Connection,
  terminal: Terminal,
  { paidMs, webhookMs } = limits,
): Promise<void> => {
  const payment = await create(connection, terminal);
  const callback = await pay(payment.checkoutUrl, terminal);
  await comeBack(callback, terminal);
  await seePaid({ connection, payment, terminal, limitMs: paidMs });
  await seeWebhook({ connection, payment, terminal, limitMs: webhookMs });
};

interface Created {
  paymentId: string;
  orderId: string;
  checkoutUrl: string;
}

const create = async ({ apiBaseUrl, token }: Connection, terminal: Terminal): Promise<Created> => {
  terminal.step('The application creates a payment');
  const orderId = `D-${randomUUID().slice(0, 8).toUpperCase()}`;
  const body = {
    order_id: orderId,
    amount: 1290,
    currency: 'EUR',
    description: 'Morning beans',
    metadata: { item: 'Morning beans' },
  };
  const idempotencyKey = randomUUID();
  const url = `${apiBaseUrl}/api/v1/payments`;
  terminal.sent(`POST ${url}`);
  terminal.block(
    `Authorization: Bearer ${token.slice(0, 13)}…\nIdempotency-Key: ${idempotencyKey}\n\n${pretty(body)}`,
  );
  const answer = await send(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });
  terminal.received(String(answer.status));
  terminal.block(pretty(parseJson(answer.text) ?? answer.text));
  const payment = paymentOf(answer, 201);
  if (payment.checkout_url === null) throw new DemoError('The new payment has no checkout_url.');
  return { paymentId: payment.payment_id, orderId, checkoutUrl: payment.checkout_url };
};

interface Seeing {
  connection: Connection;
  payment: Created;
  terminal: Terminal;
  limitMs: number;
}

const seePaid = async ({ connection, payment: { paymentId }, terminal, limitMs }: Seeing) => {
  terminal.step('The application asks for the payment');
  terminal.sent(`GET ${connection.apiBaseUrl}/api/v1/payments/${paymentId}`);
  const payments = createPaymentsClient(connection);
  let status = 'unknown';
  const paid = await eventually(limitMs, async () => {
    status = (await payments.get(paymentId))?.status ?? 'unknown';
    return status === 'paid' || undefined;
  });
  terminal.received(status);
  if (!paid) throw new DemoError(`The payment did not become paid: it is ${status}.`);
  terminal.good('The payment is paid.');
};

const orderSchema = z.object({
  webhook: z.object({
    verified: z.literal(true),
    received_at: z.iso.datetime(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
  }),
});

const seeWebhook = async ({ connection, payment, terminal, limitMs }: Seeing) => {
  terminal.step('The shop received the webhook');
  const url = `${connection.shopUrl}/orders/${payment.orderId}.json`;
  const webhook = await eventually(limitMs, async () => {
    const { status, text } = await send(url);
    const order = orderSchema.safeParse(parseJson(text));
    return status === 200 && order.success ? order.data.webhook : undefined;
  });
  if (!webhook)
    throw new DemoError(
      `No webhook with a valid signature reached the shop within ${limitMs / 1000} s.`,
    );
  const headers = Object.entries(webhook.headers).map(([name, value]) => `${name}: ${value}`);
  terminal.block(`POST /webhook\n${headers.join('\n')}\n\n${webhook.body}`);

  // Looked at once more here, by the same check that an application would copy.
  const verification = verifySignature({
    header: webhook.headers['x-service-signature'],
    rawBody: Buffer.from(webhook.body),
    secret: connection.webhookSecret,
    receivedAt: new Date(webhook.received_at),
  });
  if (!verification.valid)
    throw new DemoError(`The webhook’s signature is wrong: ${verification.reason}`);
  const event = eventSchema.safeParse(parseJson(webhook.body));
  if (!event.success || event.data.payment_id !== payment.paymentId)
    throw new DemoError('The webhook that arrived does not say that this payment is paid.');
  terminal.good('The signature is valid: HMAC-SHA256 of the timestamp and the raw body.');
};

const eventSchema = z.object({ event: z.literal('payment.paid'), payment_id: z.string() });

/** Looks until there is something or the time is over. */
const eventually = async <T>(
  limitMs: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const until = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || Date.now() > until) return found;
    await sleep(250);
  }
};

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);
