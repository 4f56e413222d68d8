import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplications } from '../../postgres/applications.ts';
import type { Sql } from '../../postgres/connection.ts';
import { connect } from '../../postgres/connection.ts';
import { createDeliveries } from '../../postgres/deliveries.ts';
import { createGateways, sandboxAccount } from '../../postgres/gateways.ts';
import { createIdempotencyKeys } from '../../postgres/idempotency-keys.ts';
import { createPaymentRecords } from '../../postgres/payment-records.ts';
import { createPayments } from '../../postgres/payments.ts';
import { createSandboxPayments } from '../../postgres/sandbox-payments.ts';
import { createSettlements } from '../../postgres/settlements.ts';
import { createSweepQueries } from '../../postgres/sweep.ts';
import { createTokens } from '../../postgres/tokens.ts';
import { createUnstarted } from '../../postgres/unstarted.ts';
import { createWaiting } from '../../postgres/waiting.ts';
import { eventOf } from '../../contract/event.ts';
import type { Payment } from '../../contract/payment.ts';
import { fill } from '../support/fill.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/until.ts';

const application = 'big';
const count = 100_000;

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
/** Its statements are explained in the server's log. */
let sql: Sql;
beforeAll(async () => {
  postgres = await startOwnPostgres({
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    log_line_prefix: '%a: ',
  });
  await createGateways(postgres.sql).insert(sandboxAccount);
  await createApplications(postgres.sql).insert({
    slug: application,
    defaultGateway: 'sandbox',
    callbackUrls: ['http://127.0.0.1:9/return'],
    webhookUrl: null,
  });
  await fill(postgres.sql, { application, count });
  await postgres.sql`alter database payments set auto_explain.log_min_duration = 0`;
  sql = connect(postgres.url, { name: 'explained', max: 1 });
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await postgres.drop();
});

/** The plans, as they were carried out, of everything that `work` asked the database. */
const plansOf = async (work: () => Promise<unknown>): Promise<string[]> => {
  const from = postgres.lines.length;
  await work();
  const mark = `done ${from}`;
  await sql.unsafe(`select '${mark}'`);
  await until('the plans are logged', () =>
    postgres.lines.slice(from).some((line) => line.includes(mark)),
  );
  const text = postgres.lines.slice(from).join('\n');
  return text
    .split(/^explained: LOG: {2}duration: .* plan:$/m)
    .slice(1)
    .map((plan) => plan.split(/\n(?!\t)/, 1)[0] ?? '')
    .filter((plan) => !plan.includes(mark));
};

/** Tables that grow with payments and tokens. */
const readsWhole =
  /Seq Scan on (?:payments|events|deliveries|attempts|unstarted|idempotency_keys|sandbox_payments|tokens)\b/;

/** How many blocks a statement has read, from wherever. */
const blocksIn = (plan: string): number => {
  const [, hit = 0, read = 0] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
  return Number(hit) + Number(read);
};

const idOf = (n: number) => `PAY_${String(n).padStart(26, '0')}`;
const owner = { application, test: true };
const now = new Date();

const aPayment = (id: string): Payment => ({
  id,
  application,
  test: true,
  orderId: 'o',
  status: 'pending',
  amount: 1,
  currency: 'EUR',
  gateway: 'sandbox',
  description: null,
  callbackUrl: 'http://127.0.0.1:9/return',
  metadata: '{}',
  trackingCode: null,
  cardPanMasked: null,
  paidAt: null,
  failureCode: null,
  expiresAt: now,
  createdAt: now,
  updatedAt: now,
});

/** Every statement on tables that grow, by the method that sends it. */
const calls = (db: Sql): Record<string, Record<string, () => Promise<unknown>>> => {
  const payments = createPayments(db);
  const records = createPaymentRecords(db);
  const all = { id: null, orderId: null, application: null, status: null, delivery: null };
  const settlements = createSettlements(db);
  const deliveries = createDeliveries(db);
  const idempotencyKeys = createIdempotencyKeys(db);
  const sandboxPayments = createSandboxPayments(db);
  const sweep = createSweepQueries(db);
  const unstarted = createUnstarted(db);
  const route = 'POST /api/v1/payments';
  const record = {
    ...{ route, key: 'new', fingerprint: Buffer.alloc(32), status: 201, location: '', body: '' },
    expiresAt: now,
  };
  const ended: Payment = { ...aPayment(idOf(2)), status: 'expired' };
  const attempt = { number: 1, round: 1, engineScheduledAt: now, startedAt: now };
  const result = {
    ...{ durationMs: 1, responseStatus: 200, errorClass: null, error: null, responseBody: null },
    responseTruncated: false,
  };
  return {
    payments: {
      insert: () => payments.insert(aPayment('PAY_NEW'), record),
      get: () => payments.get(idOf(7), owner),
      list: () =>
        payments.list(owner, {
          ...{ orderId: undefined, status: undefined, from: undefined, to: undefined },
          ...{ after: undefined, limit: 21, offset: 9_980 },
        }),
      getForPayer: () => payments.getForPayer(idOf(7)),
      getByReference: () => payments.getByReference('sandbox', 'R7'),
      isOpened: () => payments.isOpened(idOf(7)),
      sendToGateway: () => payments.sendToGateway(idOf(7), now),
    },
    tokens: { authenticate: () => createTokens(db).authenticate('svc_test_x') },
    settlements: {
      get: () => settlements.get(idOf(7)),
      open: () =>
        settlements.open(idOf(7), { reference: 'x', redirect: { method: 'GET', url: '' } }),
      wait: () => settlements.wait(idOf(7), { processing: true, now }),
      flagDoubts: () => settlements.flagDoubts({ ...aPayment(idOf(7)), trackingCode: 'T-7' }),
      end: () =>
        settlements.end(ended, eventOf(ended, now), { words: { code: null, message: null } }),
    },
    deliveries: {
      get: () => deliveries.get(idOf(count)),
      beginRound: () => deliveries.beginRound(idOf(count), now),
      beginAttempt: () => deliveries.beginAttempt(idOf(count), attempt),
      completeAttempt: () =>
        deliveries.completeAttempt(idOf(count), 1, {
          result,
          consequence: { status: 'delivered' },
          completedAt: now,
        }),
    },
    idempotencyKeys: {
      get: () => idempotencyKeys.get(owner, route, 'key-7'),
      dropExpired: () => idempotencyKeys.dropExpired(10),
    },
    sandboxPayments: {
      open: () =>
        sandboxPayments.open({ paymentId: idOf(7), amount: 1, currency: 'EUR', returnUrl: '' }),
      get: () => sandboxPayments.get('R7'),
      getByPayment: () => sandboxPayments.getByPayment(idOf(7)),
      choose: () => sandboxPayments.choose(idOf(7), { state: 'paid', refusal: null }),
      verify: () => sandboxPayments.verify('R7'),
      expire: () => sandboxPayments.expire('R8'),
    },
    sweep: {
      gatewaysInUse: () => sweep.gatewaysInUse(),
      takeOnTheirWay: () => sweep.takeOnTheirWay('sandbox', 10),
      giveBackOnTheirWay: () => sweep.giveBackOnTheirWay(['PAY_1', 'PAY_2']),
      listEndedUnpaid: () => sweep.listEndedUnpaid('sandbox', ['R1', 'R2']),
      takeNotEnded: () => sweep.takeNotEnded(10),
      countOverdueDeliveries: () => sweep.countOverdueDeliveries(100),
      takeOverdueDeliveries: () => sweep.takeOverdueDeliveries(10),
    },
    unstarted: {
      delete: () => unstarted.delete([idOf(1), idOf(2)]),
      count: () => unstarted.count(10_001),
      list: () => unstarted.list({ limit: 100, age: '5 seconds' }),
    },
    waiting: { look: () => createWaiting(db).look() },
    // What an admin asks for at a terminal.
    records: {
      find: () => records.find(all, 50),
      findByStatus: () => records.find({ ...all, status: 'failed' }, 50),
      findByOrder: () => records.find({ ...all, orderId: 'order-7' }, 50),
      findExhausted: () => records.find({ ...all, delivery: 'exhausted' }, 50),
      get: () => records.get(idOf(7)),
    },
  };
};

describe('at 100,000 payments', () => {
  it('every statement of the service uses an index', async () => {
    for (const [table, methods] of Object.entries(calls(sql)))
      for (const [name, call] of Object.entries(methods)) {
        const plans = await plansOf(call);
        expect(plans.length, `${table}.${name} is explained`).toBeGreaterThan(0);
        for (const plan of plans) expect(plan, `${table}.${name}`).not.toMatch(readsWhole);
      }
  });

  it('no statement is left out here', () => {
    const own = calls(sql);
    for (const [table, methods] of Object.entries({
      payments: createPayments(sql),
      settlements: createSettlements(sql),
      idempotencyKeys: createIdempotencyKeys(sql),
      sandboxPayments: createSandboxPayments(sql),
      sweep: createSweepQueries(sql),
      unstarted: createUnstarted(sql),
      waiting: createWaiting(sql),
    }))
      expect(Object.keys(own[table] ?? {}).sort(), table).toEqual(Object.keys(methods).sort());
  });

  it('a list reads what it shows and no more, for every filter, first page and by cursor', async () => {
    const payments = createPayments(sql);
    const second = (n: number) => new Date(now.getTime() - n * 1000);
    for (let combination = 0; combination < 32; combination += 1) {
      const on = (bit: number) => (combination & (1 << bit)) !== 0;
      const query = {
        orderId: on(0) ? 'order-7' : undefined,
        status: on(1) ? ('paid' as const) : undefined,
        from: on(2) ? second(90_000) : undefined,
        to: on(3) ? second(2_000) : undefined,
        after: on(4) ? { createdAt: second(40_000), id: idOf(40_000) } : undefined,
        ...{ limit: 21, offset: 0 },
      };
      // Seven times: from the sixth on Postgres may take a plan that does not know the values.
      const plans = await plansOf(async () => {
        for (let time = 0; time < 7; time += 1) await payments.list(owner, query);
      });
      const what = `${JSON.stringify(query)} as it was planned`;
      expect(plans).toHaveLength(7);
      for (const plan of plans) {
        expect(plan, what).toMatch(/Index Scan using payments__list/);
        expect(plan, what).not.toMatch(/Seq Scan|Sort|Rows Removed by Filter|Bitmap/);
        // A page of 21 that are spread over the table, and no walk along the index to them.
        expect(blocksIn(plan), what).toBeLessThan(40);
      }
    }
  });
});
