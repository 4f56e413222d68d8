import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, Payments } from '../client/src/index.ts';
import { startStripe } from '../test/fakes/stripe.ts';
import { startProduction } from '../tools/production/production.ts';
import { compareDays } from './accounts.ts';
import {
  account,
  daysOf,
  findRepeated,
  formatAccounts,
  readBook,
  readKnown,
} from './restore-checks.ts';
import { backUp } from './restore-copy.ts';
import type { RunOptions } from './run.ts';
import { setUp } from './setup.ts';

export interface DrillPlan {
  /** Payments that are paid after the backup. A tenth of them is in the backup, not paid. */
  payments: number;
  /** Refunds that are made after the backup. Half of their payments are in the backup as paid. */
  refunds: number;
  /** Leaves out a refund before the backup without an answer, for which the service waits 50 s. */
  quick?: boolean;
}

export interface DrillReport {
  /** The steps after the loss, with their seconds. */
  steps: readonly { name: string; seconds: number }[];
  tables: readonly string[];
  problems: readonly string[];
}

type Stripe = Awaited<ReturnType<typeof startStripe>>;

/** A payment that was opened at the gateway. */
interface Purchase {
  id: string;
  /** The gateway's. */
  reference: string;
  amount: number;
}

const gateway = 'stripe';
const refundedBefore = 10;
const limitSeconds = 600;
const daySeconds = 86_400;
const waitMs = 180_000;

/**
 * Takes a backup, goes on, loses everything since the backup, restores it, and looks for all money of the gateway's book.
 * @throws SetupError
 */
export const runRestoreDrill = async (
  { payments, refunds, quick = false }: DrillPlan,
  { folder, programs, say, cleanup }: RunOptions,
): Promise<DrillReport> => {
  const stripe = await startStripe();
  cleanup.defer(stripe.stop);
  const receiver = await startReceiver();
  cleanup.defer(receiver.stop);
  const production = await startProduction({ folder, programs, processes: 1, giveUp: say });
  cleanup.defer(production.stop);
  const credentials = { secretKey: 'sk_test_0123456789abcdef', baseUrl: stripe.url };
  const gateways = [{ slug: gateway, credentials }];
  const shop = createShop({
    stripe,
    url: production.url,
    token: await setUp(production, { gateways, receiver }),
  });
  const loseAnswers = (count: number) => {
    for (let n = 0; n < count; n += 1) stripe.fail('lost', /\/v1\/refunds$/);
  };
  const refundAll = async (purchases: readonly Purchase[]) => {
    const count = stripe.refunds.length + purchases.length;
    await inLanes(purchases, shop.refund);
    await waitUntil('the gateway has all refunds', () => stripe.refunds.length === count);
  };

  say('Paying and refunding before the backup …');
  const halfOfRefunds = Math.ceil(refunds / 2);
  const kept = await times(refundedBefore + halfOfRefunds, shop.buy);
  const open = await times(Math.ceil(payments / 10), shop.open);
  loseAnswers(quick ? 0 : 2);
  await refundAll(kept.slice(0, refundedBefore));
  const dataDir = join(folder, 'postgres');
  const backup = await backUp({ ...production, dataDir }, join(folder, 'backup'));

  say(`Going on with ${payments} payments and ${refunds} refunds …`);
  const chargesBefore = stripe.charges.length;
  await inLanes(open, shop.pay);
  const lost = await times(payments - open.length, shop.buy);
  const refunded = [
    ...kept.slice(refundedBefore),
    ...open.slice(0, Math.floor(refunds / 4)),
    ...lost,
  ].slice(0, refunds);
  loseAnswers(Math.ceil(refunds / 5));
  await refundAll(refunded);
  dateBack(stripe.charges.slice(chargesBefore + open.length, chargesBefore + payments / 2));

  const steps: { name: string; seconds: number }[] = [];
  const tables: string[] = [];
  const problems: string[] = [];
  const step = async (name: string, work: () => Promise<void>) => {
    say(`${name} …`);
    const startedAt = performance.now();
    await work();
    steps.push({ name, seconds: (performance.now() - startedAt) / 1000 });
  };
  const compare = async (when: string, { isMoving = false } = {}) => {
    const days = daysOf(stripe).map((day) => ({ gateway, day }));
    await compareDays(production.temporal, days);
    const known = await readKnown(production.databaseUrl);
    const accounts = account(readBook(stripe), known, { isMoving });
    tables.push(`${when}:\n${formatAccounts(accounts)}`);
    problems.push(...accounts.problems.map((text) => `${when}: ${text}`));
  };

  const calls = stripe.calls.length;
  for (const { part, kill } of production.members) if (part !== 'postgres') kill();
  await step('Restore the backup and start', () => production.stopDuring(backup.restore));
  await step('Compare with the book', () => compare('after the restore', { isMoving: true }));
  await step('The applications repeat their requests', async () => {
    await inLanes(open, orGone(shop.waitUntilPaid));
    await inLanes(refunded, orGone(shop.refund));
    const inBackup = new Set([...kept, ...open]);
    await inLanes(
      [...kept.slice(0, refundedBefore), ...refunded].filter((one) => inBackup.has(one)),
      shop.waitUntilRefunded,
    );
  });
  await step('Compare again', () => compare('after the repeats'));

  // Stripe forgets keys after a day, so it must not get a refund again that it has.
  const again = stripe.calls
    .slice(calls)
    .filter(({ method, path }) => method === 'POST' && path === '/v1/refunds');
  problems.push(
    ...again.map(({ text }) => `the gateway got a refund again: ${text}`),
    ...findRepeated(stripe.refunds),
  );
  const seconds = steps.reduce((sum, one) => sum + one.seconds, 0);
  if (seconds > limitSeconds) problems.push(`it took ${Math.round(seconds)} s`);
  return { steps: [...steps, { name: 'Together', seconds }], tables, problems };
};

/** An application and its payers, over HTTP alone. */
const createShop = ({ stripe, url, token }: { stripe: Stripe; url: string; token: string }) => {
  const client = new Payments({ token, baseUrl: url });
  let orders = 0;

  const open = async (): Promise<Purchase> => {
    orders += 1;
    const amount = 1_000 + ((orders * 37) % 9_000);
    const { payment_id: id } = await client.payments.create(
      { order_id: `order-${orders}`, amount, currency: 'EUR', expires_in: 3_600 },
      { idempotencyKey: `order-${orders}` },
    );
    const location = await waitUntil(`${id} is open`, async () => {
      const to = `${url}/api/v1/payments/${id}/checkout`;
      return (await fetch(to, { redirect: 'manual' })).headers.get('location') ?? false;
    });
    return { id, amount, reference: location.slice(location.lastIndexOf('/') + 1) };
  };
  const pay = async ({ reference }: Purchase): Promise<void> => {
    stripe.pay(reference);
    await fetch(stripe.back(reference).url, { redirect: 'manual' });
  };
  const waitUntilPaid = ({ id }: Purchase) =>
    waitUntil(`${id} is paid`, async () => (await client.payments.verify(id)).status === 'paid');

  return {
    open,
    pay,
    async buy(): Promise<Purchase> {
      const purchase = await open();
      await pay(purchase);
      return purchase;
    },
    waitUntilPaid,
    /** Asks for a part of the money, so that the gateway would give it a second time. */
    async refund(purchase: Purchase): Promise<void> {
      await waitUntilPaid(purchase);
      await client.payments.refunds.create(
        purchase.id,
        { amount: Math.floor(purchase.amount / 3) },
        { idempotencyKey: `refund-${purchase.id}` },
      );
    },
    waitUntilRefunded: ({ id, amount }: Purchase) =>
      waitUntil(
        `${id} is refunded`,
        async () => (await client.payments.get(id)).amount_refunded === Math.floor(amount / 3),
      ),
  };
};

/** The restored service has never heard of the payment. */
const orGone =
  (work: (purchase: Purchase) => Promise<unknown>) =>
  async (purchase: Purchase): Promise<void> => {
    await work(purchase).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'PAYMENT_NOT_FOUND')) throw error;
    });
  };

/** A backup that is a day old leaves two days to compare. */
const dateBack = (charges: Stripe['charges']): void => {
  for (const charge of charges) charge.created -= daySeconds;
};

const lanes = 20;

const inLanes = async <T>(items: readonly T[], work: (item: T) => Promise<unknown>) => {
  const rest = items.values(); // Each lane takes the next one.
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of rest) await work(item);
    }),
  );
};

const times = async <T>(count: number, work: () => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  await inLanes(Array.from({ length: count }), async () => results.push(await work()));
  return results;
};

const waitUntil = async <T>(what: string, look: () => T | false | Promise<T | false>) => {
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await sleep(200)) {
    const found = await look();
    if (found !== false) return found;
  }
  throw new Error(`Not within ${waitMs / 1000} s: ${what}`);
};

/** Accepts every webhook. */
const startReceiver = async () => {
  const server = createServer((req, res) => void req.resume().on('end', () => res.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, // It listens on TCP.
    trust: () => undefined,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
