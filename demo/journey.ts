import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Payment, Payments, SignatureError, webhooks } from '../client/src/index.ts';
import { type Connection, DemoError } from './connection.ts';
import type { Terminal } from './terminal.ts';

interface Deps {
  connection: Connection;
  payments: Payments['payments'];
  terminal: Terminal;
  limits: Limits;
}

interface Limits {
  paidMs: number;
  webhookMs: number;
}

/**
 * Shows one payment from its creation to its verified webhook.
 * @throws DemoError or PaymentsError with the step that failed
 */
export const runJourney = async (
  connection: Connection,
  terminal: Terminal,
  limits: Limits = { paidMs: 20_000, webhookMs: 30_000 },
): Promise<void> => {
  const { apiBaseUrl: baseUrl, token } = connection;
  const { payments } = new Payments({ baseUrl, token });
  const deps: Deps = { connection, terminal, limits, payments };
  const payment = await create(deps);
  await pay(deps, payment);
  await seePaid(deps, payment);
  await seeWebhook(deps, payment);
};

const create = async ({ connection, payments, terminal }: Deps): Promise<Payment> => {
  terminal.step('The application creates a payment');
  const newPayment = {
    order_id: `D-${randomUUID().slice(0, 8).toUpperCase()}`,
    amount: 1290,
    currency: 'EUR' as const,
    description: 'Morning beans',
    metadata: { item: 'Morning beans' },
  };
  const idempotencyKey = randomUUID();
  terminal.sent(`POST ${connection.apiBaseUrl}/api/v1/payments`);
  terminal.block(
    `Authorization: Bearer ${connection.token.slice(0, 13)}…\nIdempotency-Key: ${idempotencyKey}\n\n${pretty(newPayment)}`,
  );
  const payment = await payments.create(newPayment, { idempotencyKey });
  terminal.received('201');
  terminal.block(pretty(payment));
  return payment;
};

/** Goes where the payer's browser goes, one redirect at a time. */
const pay = async ({ terminal }: Deps, { checkout_url: checkoutUrl }: Payment) => {
  const browse = (url: string, form?: string) => visit(terminal, url, form);
  if (checkoutUrl === null) throw new DemoError('The new payment has no checkout_url.');

  terminal.step('The payer opens the checkout and pays on the gateway’s page');
  // The checkout answers 503 while the payment is still being opened at the gateway.
  const checkout = await eventually(30_000, async () => {
    const response = await browse(checkoutUrl);
    return response.status === 503 ? undefined : response;
  });
  if (!checkout) throw new DemoError('The payment was not opened at the gateway within 30 s.');
  const gatewayPage = targetOf(checkout);
  const page = await browse(gatewayPage);
  if (page.status !== 200 || !page.text.includes('<form'))
    throw new DemoError(`The gateway’s page has no form to pay with (status ${page.status}).`);
  const returnUrl = targetOf(await browse(gatewayPage, 'action=pay'));
  const callbackUrl = targetOf(await browse(returnUrl));

  terminal.step('The payer is back in the shop (a hint, not yet a proof)');
  const shop = await browse(callbackUrl);
  if (shop.status !== 200)
    throw new DemoError(`The shop answered the payer’s return with status ${shop.status}.`);
};

interface Visit {
  url: string;
  status: number;
  text: string;
  location: string | null;
}

const visit = async (terminal: Terminal, url: string, form?: string): Promise<Visit> => {
  const method = form === undefined ? 'GET' : 'POST';
  terminal.sent([method, url, form].filter(Boolean).join(' '));
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(20_000),
      ...(form !== undefined && { body: new URLSearchParams(form) }),
    });
    const { status } = response;
    const location = response.headers.get('location');
    terminal.received(location === null ? String(status) : `${status} → ${location}`);
    return { url, status, location, text: await response.text() };
  } catch (error) {
    throw new DemoError(`${method} ${url} failed (${reasonFor(error)}).`, { cause: error });
  }
};

const targetOf = ({ url, status, location }: Visit): string => {
  if (location === null || ![302, 303].includes(status))
    throw new DemoError(`${url} answered ${status} instead of a redirect.`);
  return new URL(location, url).href;
};

const seePaid = async ({ connection, payments, terminal, limits }: Deps, created: Payment) => {
  const id = created.payment_id;
  terminal.step('The application reads the payment');
  terminal.sent(`GET ${connection.apiBaseUrl}/api/v1/payments/${id}`);
  let status: string = created.status;
  const isPaid = await eventually(limits.paidMs, async () => {
    ({ status } = await payments.get(id));
    return status === 'paid' || undefined;
  });
  terminal.received(status);
  if (!isPaid)
    throw new DemoError(
      `The payment did not become paid: it is ${status} after ${limits.paidMs / 1000} s.`,
    );
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

const seeWebhook = async ({ connection, terminal, limits }: Deps, payment: Payment) => {
  terminal.step('The shop received the webhook');
  const url = `${connection.shopUrl}/orders/${payment.order_id}.json`;
  const webhook = await eventually(limits.webhookMs, async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    return orderSchema.safeParse(await response.json().catch(() => undefined)).data?.webhook;
  });
  if (!webhook)
    throw new DemoError(
      `No webhook with a valid signature reached the shop within ${limits.webhookMs / 1000} s.`,
    );
  const headers = Object.entries(webhook.headers).map(([name, value]) => `${name}: ${value}`);
  terminal.block(`POST /webhook\n${headers.join('\n')}\n\n${webhook.body}`);

  const event = await webhooks
    .verify({
      body: webhook.body,
      signature: webhook.headers['x-service-signature'],
      secret: connection.webhookSecret,
      receivedAt: new Date(webhook.received_at),
    })
    .catch((error: unknown) => {
      if (!(error instanceof SignatureError)) throw error;
      throw new DemoError(`The webhook’s signature is wrong: ${error.message}`);
    });
  if (event.event !== 'payment.paid' || event.payment_id !== payment.payment_id)
    throw new DemoError('The webhook does not say that this payment is paid.');
  terminal.good('The signature is valid: HMAC-SHA256 of the timestamp and the raw body.');
};

/** `fetch failed` hides the reason in its cause. */
const reasonFor = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
};

/** Polls until there is a value. Undefined when the time is over. */
const eventually = async <T>(
  limitMs: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  for (const end = Date.now() + limitMs; ; await sleep(250)) {
    const found = await look();
    if (found !== undefined || Date.now() > end) return found;
  }
};

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);
