import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../../../postgres/driver/connection.ts';
import { createEvents } from '../../../postgres/webhooks/events.ts';
import { createDisputes } from '../../../postgres/payments/disputes.ts';
import { createLinks } from '../../../postgres/links/links.ts';
import { createMovements } from '../../../postgres/accounts/movements.ts';
import { createRetention } from '../../../postgres/admin/retention.ts';
import { createPayments } from '../../../postgres/payments/payments.ts';
import { allowedOfKept, allowedScans, isOfAdmins } from '../../support/checks/allowed-scans.ts';
import { everyStatement, idOf, smallTableFiles } from '../../support/checks/every-statement.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';
import { fillAll } from '../../support/data/fill-tables.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { everyEvent } from '../../support/data/filters.ts';
import { forFile } from '../../support/for-file.ts';
import { until } from '../../support/until.ts';

const application = 'big';
/** With few, reading a whole table is cheapest for queries that use an index in production. */
const count = 200_000;

const postgres = await forFile(
  startOwnPostgres({
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    log_line_prefix: '%a: ',
  }),
);
await fillAll(postgres.sql, { application, count });
await postgres.sql`alter database payments set auto_explain.log_min_duration = 0`;
/** Its queries are explained in the server's log. */
const sql = connect(postgres.url, { name: 'explained', max: 1 });
/** As API and workers connect. */
const keeping = connect(postgres.url, { name: 'explained', max: 1, keepsPlans: true });
afterAll(() => Promise.all([sql, keeping].map((each) => each.end({ timeout: 1 }))));

type Work = () => Promise<unknown>;

/** Runs each work and returns the executed plans of its queries, by its name. */
const collectPlans = async (works: readonly (readonly [string, Work])[], by = sql) => {
  const from = postgres.lines.length;
  for (const [nth, [, work]] of works.entries()) {
    await by.unsafe(`select 'begin ${nth}'`);
    await work();
  }
  const mark = `begin done ${from}`;
  await by.unsafe(`select '${mark}'`);
  await until('the plans are logged', () =>
    postgres.lines.slice(from).some((line) => line.includes(mark)),
  );
  const plans = new Map<string, string[]>(works.map(([name]) => [name, []]));
  let current: string[] | undefined;
  for (const part of postgres.lines
    .slice(from)
    .join('\n')
    .split(/^explained: LOG: {2}duration: .* plan:$/m)
    .slice(1)) {
    const plan = part.split(/\n(?!\t)/, 1)[0] ?? '';
    const [, nth] = /select 'begin (.*)'$/m.exec(plan) ?? [];
    if (nth !== undefined) current = plans.get(works[Number(nth)]?.[0] ?? '');
    else current?.push(plan);
  }
  return plans;
};

/** Matches scans of whole tables that grow with payments and tokens. */
const growingTableScan =
  /Seq Scan on (?:payments|links|refunds|disputes|events|deliveries|attempts|workflow_outbox|idempotency_keys|payers|sandbox_payments|sandbox_refunds|gateway_exchanges|gateway_entries|gateway_proofs|late_payments|movements|audit_log|tokens)\b/g;

/** Counts the blocks that a query has read, from cache or disk. */
const countBlocks = (plan: string): number => {
  const [, hit = 0, read = 0] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
  return Number(hit) + Number(read);
};

const owner = { application, test: true };
const second = (n: number) => new Date(Date.now() - n * 1000);
const [early, middle, late] = [count * 0.9, count * 0.4, count * 0.02];
const times = { from: [null, second(early)], to: [null, second(late)] } as const;
const page = (id: string) => ({ after: [null, { at: second(middle), id }], limit: [21] }) as const;

/** Each combination of these values. */
const combine = <T extends Record<string, readonly unknown[]>>(values: T) =>
  Object.entries(values).reduce<Record<string, unknown>[]>(
    (made, [name, all]) => made.flatMap((one) => all.map((value) => ({ ...one, [name]: value }))),
    [{}],
  ) as { [K in keyof T]: T[K][number] }[];

/** Lists by each query and checks the plans. From the sixth execution on Postgres may use a generic plan. */
const checkPlans = async <T extends object>(
  queries: readonly T[],
  list: (query: T) => Promise<unknown>,
  check: (plan: string, description: string) => void,
) => {
  const sevenTimes = async (query: T) => {
    for (let time = 0; time < 7; time += 1) await list(query);
  };
  const all = await collectPlans(
    queries.map((query) => [JSON.stringify(query), () => sevenTimes(query)]),
  );
  expect(all.size).toBe(queries.length);
  for (const [query, plans] of all) {
    expect(plans, query).toHaveLength(7);
    for (const plan of plans) check(plan, `${query} as it was planned`);
  }
};

describe(`at ${count} payments`, () => {
  it('a list reads only the rows of its page, for every combination of filters', async () => {
    const queries = combine({
      orderId: [null, 'order-7'],
      status: [null, 'paid'],
      ...times,
      ...page(idOf(middle)),
      offset: [0],
    } as const);
    const payments = createPayments(sql);
    const list = (query: (typeof queries)[0]) => payments.list({ ...owner, ...query }, query);
    await checkPlans(queries, list, (plan, description) => {
      expect(plan, description).toMatch(/Index Scan using payments__list/);
      // There are few gateways, on one page of the table.
      expect(plan, description).not.toMatch(
        /Seq Scan on (?!gateways )|Sort|Rows Removed by Filter|Bitmap/,
      );
      // A page of 21 rows that are spread over the table, without a walk along the index.
      expect(countBlocks(plan), description).toBeLessThan(40);
    });
  });

  it('a list of events reads only the start of some ranges, for every combination of filters', async () => {
    const queries = combine({
      order: ['desc', 'asc'],
      event: [null, 'payment.failed'],
      delivery: [null, 'exhausted'],
      orderId: [null, 'order-7'],
      ...times,
      ...page('00000000-0000-0000-0000-000000000000'),
    } as const);
    const events = createEvents(sql);
    const list = (query: (typeof queries)[0]) =>
      events.list({ ...owner, ...everyEvent, ...query }, query);
    await checkPlans(queries, list, (plan, description) => {
      expect(plan, description).not.toMatch(/Seq Scan on|Bitmap/);
      expect(plan, description).not.toMatch(/Rows Removed by Filter: \d{2,}/);
      // At most 21 rows of each of four kinds and four statuses, anywhere in the table.
      expect(countBlocks(plan), description).toBeLessThan(600);
    });
  });

  it('a page of events reads the bodies of its own events alone', async () => {
    const events = createEvents(sql);
    const list = async ({ order }: { order: 'asc' | 'desc' }) => {
      const filter = { ...owner, ...everyEvent, order, include: 'payload' as const };
      const found = await events.list(filter, { after: null, limit: 101 });
      expect(found.map(({ body }) => String(body))).toEqual(Array(101).fill('{}'));
    };
    await checkPlans([{ order: 'desc' }, { order: 'asc' }], list, (plan, description) => {
      // Without the limit before it, each of four kinds and four statuses would bring its own 101.
      expect(plan, description).toMatch(
        /Index Scan using events_pkey on events e [^\n]* loops=101\)/,
      );
      expect(plan, description).not.toMatch(/Seq Scan on|Bitmap/);
    });
  });

  it('a list of movements reads only the start of some ranges, for every combination of filters', async () => {
    const queries = combine({
      kind: [null, 'refund', 'chargeback'],
      paymentId: [null, idOf(7)],
      ...times,
      ...page(`payment:${idOf(middle)}`),
    } as const);
    const movements = createMovements(sql);
    const list = (query: (typeof queries)[0]) => movements.list({ ...owner, ...query }, query);
    await checkPlans(queries, list, (plan, description) => {
      expect(plan, description).not.toMatch(/Seq Scan on movements/);
      expect(plan, description).not.toMatch(/Rows Removed by Filter: \d{2,}/);
      // At most 21 rows of each of eight kinds, anywhere in the table.
      expect(countBlocks(plan), description).toBeLessThan(300);
    });
  });

  it('a list of disputes reads only the rows of its page, for every combination of filters', async () => {
    const queries = combine({
      stage: [null, 'inquiry'],
      status: [null, 'needs_response'],
      paymentId: [null, idOf(7)],
      ...times,
      ...page(`DISPUTE_${idOf(middle).slice(4)}`),
    } as const);
    const disputes = createDisputes(sql);
    const list = (query: (typeof queries)[0]) => disputes.list({ ...owner, ...query }, query);
    await checkPlans(queries, list, (plan, description) => {
      // Nearly all are of one application, so the order of all of them is as good as its own.
      expect(plan, description).toMatch(/Index Scan using disputes__(?:list|payment|all)/);
      expect(plan, description).not.toMatch(/Seq Scan|Rows Removed by Filter: \d{2,}|Bitmap/);
      // A page of 21 rows that are spread over the table.
      expect(countBlocks(plan), description).toBeLessThan(40);
    });
  });

  it('a list of links reads only the rows of its page, for every combination of filters', async () => {
    const queries = combine({
      orderId: [null, 'order-6'],
      status: [null, 'expired'],
      ...times,
      ...page(`LNK_${idOf(middle).slice(4)}`),
    } as const);
    const links = createLinks(sql);
    const list = (query: (typeof queries)[0]) => links.list({ ...owner, ...query }, query);
    await checkPlans(queries, list, (plan, description) => {
      // Nearly all are of one application, so the order of all of them is as good as its own.
      expect(plan, description).toMatch(/Index Scan using links__(?:list|all)/);
      expect(plan, description).not.toMatch(/Seq Scan|Sort|Rows Removed by Filter: \d{2,}|Bitmap/);
      // A page of 21 rows that are spread over the table.
      expect(countBlocks(plan), description).toBeLessThan(40);
    });
  });

  it("a purge's batch costs nothing for the rows that stay", async () => {
    const retention = createRetention(sql);
    const plans = await collectPlans([
      ['payments', () => retention.deletePayments(new Date(), 100)],
      // The first 50,000 have payments.
      ['links', () => retention.deleteLinks(new Date(), '', 100)],
      ['bodies', () => retention.deleteResponseBodies(new Date(), 100)],
    ]);
    for (const [name, [plan = '', ...others]] of plans) {
      expect(others, name).toEqual([]);
      expect(plan, name).not.toMatch(growingTableScan);
      expect(countBlocks(plan), name).toBeLessThan(10_000);
    }
  });

  it.each([
    ['that is planned for its values', sql, allowedScans],
    ['that keeps its plan', keeping, allowedOfKept],
  ])('every query %s uses an index, except the allowed scans', async (_, by, allowed) => {
    const calls = Object.entries(everyStatement(by, { application, count }))
      .filter(([file]) => by === sql || !isOfAdmins(file))
      .flatMap(([file, each]) =>
        Object.entries(each.calls).map(([name, call]) => [`${file}, ${name}`, call] as const),
      );
    const wrong: string[] = [];
    for (const [name, plans] of await collectPlans(calls, by)) {
      if (plans.length === 0) wrong.push(`${name}: is not explained`);
      for (const scan of plans.join('\n').match(growingTableScan) ?? [])
        wrong.push(`${name}: ${scan}`);
    }
    expect(new Set(wrong)).toEqual(new Set(Object.keys(allowed)));
  });

  it('the test covers every method of every table', () => {
    const own = everyStatement(sql, { application, count });
    const files = projectFiles().flatMap((path) => {
      const [, file] = /^postgres\/([\w/-]+\.ts)$/.exec(path) ?? [];
      return file && /^export const create\w+ = \(sql\b/m.test(readProjectFile(path)) ? [file] : [];
    });
    expect([...Object.keys(own), ...smallTableFiles].sort()).toEqual(files.sort());
    for (const [file, { methods, calls }] of Object.entries(own)) {
      const covered = new Set(Object.keys(calls).map((name) => name.replace(/,.*/, '')));
      expect([...covered].sort(), file).toEqual(Object.keys(methods).sort());
    }
  });
});
