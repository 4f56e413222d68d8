import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplications } from '../../../postgres/applications.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../../../postgres/gateways.ts';
import { createEvents } from '../../../postgres/events.ts';
import { createDisputes } from '../../../postgres/disputes.ts';
import { createMovements } from '../../../postgres/movements.ts';
import { createPayments } from '../../../postgres/payments.ts';
import {
  allowedScans,
  everyStatement,
  idOf,
  smallTableFiles,
} from '../../support/checks/every-statement.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';
import { fill, fillForAdmins } from '../../support/data/fill-tables.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { everyEvent } from '../../support/data/filters.ts';
import { until } from '../../support/until.ts';

const application = 'big';
const count = 100_000;

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
/** Its queries are explained in the server's log. */
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
    disputeEvents: true,
  });
  await fill(postgres.sql, { application, count });
  await fillForAdmins(postgres.sql);
  // Only then the unopened payments are read.
  await createGateways(postgres.sql).beginSilence('sandbox');
  await postgres.sql`alter database payments set auto_explain.log_min_duration = 0`;
  sql = connect(postgres.url, { name: 'explained', max: 1 });
});
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await postgres?.drop();
});

/** Runs `work` and returns the executed plans of its queries. */
const collectPlans = async (work: () => Promise<unknown>): Promise<string[]> => {
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

/** Matches scans of whole tables that grow with payments and tokens. */
const growingTableScan =
  /Seq Scan on (?:payments|refunds|disputes|events|deliveries|attempts|workflow_outbox|idempotency_keys|payers|sandbox_payments|sandbox_refunds|gateway_exchanges|gateway_entries|late_payments|movements|audit_log|tokens)\b/g;

/** Counts the blocks that a query has read, from cache or disk. */
const countBlocks = (plan: string): number => {
  const [, hit = 0, read = 0] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
  return Number(hit) + Number(read);
};

const owner = { application, test: true };

describe('at 100,000 payments', () => {
  it('a list reads only the rows of its page, for every combination of filters', async () => {
    const payments = createPayments(sql);
    const second = (n: number) => new Date(Date.now() - n * 1000);
    for (let combination = 0; combination < 32; combination += 1) {
      const on = (bit: number) => (combination & (1 << bit)) !== 0;
      const query = {
        ...owner,
        orderId: on(0) ? 'order-7' : null,
        status: on(1) ? ('paid' as const) : null,
        from: on(2) ? second(90_000) : null,
        to: on(3) ? second(2_000) : null,
        after: on(4) ? { at: second(40_000), id: idOf(40_000) } : null,
        limit: 21,
        offset: 0,
      };
      // From the sixth execution on Postgres may use a generic plan.
      const plans = await collectPlans(async () => {
        for (let time = 0; time < 7; time += 1) await payments.list(query, query);
      });
      const description = `${JSON.stringify(query)} as it was planned`;
      expect(plans).toHaveLength(7);
      for (const plan of plans) {
        expect(plan, description).toMatch(/Index Scan using payments__list/);
        // There are few gateways, on one page of the table.
        expect(plan, description).not.toMatch(
          /Seq Scan on (?!gateways )|Sort|Rows Removed by Filter|Bitmap/,
        );
        // A page of 21 rows that are spread over the table, without a walk along the index.
        expect(countBlocks(plan), description).toBeLessThan(40);
      }
    }
  });

  it('a list of events reads only the start of some ranges, for every combination of filters', async () => {
    const events = createEvents(sql);
    const second = (n: number) => new Date(Date.now() - n * 1000);
    for (const order of ['desc', 'asc'] as const)
      for (let combination = 0; combination < 64; combination += 1) {
        const on = (bit: number) => (combination & (1 << bit)) !== 0;
        const query = {
          ...owner,
          ...everyEvent,
          event: on(0) ? ('payment.failed' as const) : null,
          delivery: on(1) ? ('exhausted' as const) : null,
          orderId: on(2) ? 'order-7' : null,
          from: on(3) ? second(90_000) : null,
          to: on(4) ? second(2_000) : null,
          after: on(5) ? { at: second(40_000), id: '00000000-0000-0000-0000-000000000000' } : null,
          order,
          limit: 21,
        };
        const plans = await collectPlans(async () => {
          for (let time = 0; time < 7; time += 1) await events.list(query, query);
        });
        const description = `${JSON.stringify(query)} as it was planned`;
        expect(plans).toHaveLength(7);
        for (const plan of plans) {
          expect(plan, description).not.toMatch(/Seq Scan on|Bitmap/);
          expect(plan, description).not.toMatch(/Rows Removed by Filter: \d{2,}/);
          // At most 21 rows of each of four kinds and four statuses, anywhere in the table.
          expect(countBlocks(plan), description).toBeLessThan(600);
        }
      }
  });

  it.each(['desc', 'asc'] as const)(
    'a page of events, %s, reads the bodies of its own events alone',
    async (order) => {
      const events = createEvents(sql);
      const filter = { ...owner, ...everyEvent, order, include: 'payload' as const };
      const page = { after: null, limit: 101 };
      const plans = await collectPlans(async () => {
        for (let time = 0; time < 7; time += 1)
          expect((await events.list(filter, page)).map(({ body }) => String(body))).toEqual(
            Array(101).fill('{}'),
          );
      });
      expect(plans).toHaveLength(7);
      for (const plan of plans) {
        // Without the limit before it, each of four kinds and four statuses would bring its own 101.
        expect(plan).toMatch(/Index Scan using events_pkey on events e [^\n]* loops=101\)/);
        expect(plan).not.toMatch(/Seq Scan on|Bitmap/);
      }
    },
  );

  it('a list of movements reads only the start of some ranges, for every combination of filters', async () => {
    const movements = createMovements(sql);
    const second = (n: number) => new Date(Date.now() - n * 1000);
    for (const kind of [null, 'refund', 'chargeback'] as const)
      for (let combination = 0; combination < 16; combination += 1) {
        const on = (bit: number) => (combination & (1 << bit)) !== 0;
        const query = {
          ...owner,
          kind,
          paymentId: on(0) ? idOf(7) : null,
          from: on(1) ? second(90_000) : null,
          to: on(2) ? second(2_000) : null,
          after: on(3) ? { at: second(40_000), id: `payment:${idOf(40_000)}` } : null,
          limit: 21,
        };
        const plans = await collectPlans(async () => {
          for (let time = 0; time < 7; time += 1) await movements.list(query, query);
        });
        const description = `${JSON.stringify(query)} as it was planned`;
        expect(plans).toHaveLength(7);
        for (const plan of plans) {
          expect(plan, description).not.toMatch(/Seq Scan on movements/);
          expect(plan, description).not.toMatch(/Rows Removed by Filter: \d{2,}/);
          // At most 21 rows of each of eight kinds, anywhere in the table.
          expect(countBlocks(plan), description).toBeLessThan(300);
        }
      }
  });

  it('a list of disputes reads only the rows of its page, for every combination of filters', async () => {
    const disputes = createDisputes(sql);
    const second = (n: number) => new Date(Date.now() - n * 1000);
    for (let combination = 0; combination < 64; combination += 1) {
      const on = (bit: number) => (combination & (1 << bit)) !== 0;
      const query = {
        ...owner,
        stage: on(0) ? ('inquiry' as const) : null,
        status: on(1) ? ('needs_response' as const) : null,
        paymentId: on(2) ? idOf(7) : null,
        from: on(3) ? second(90_000) : null,
        to: on(4) ? second(2_000) : null,
        after: on(5) ? { at: second(40_000), id: `DISPUTE_${idOf(40_000).slice(4)}` } : null,
        limit: 21,
      };
      const plans = await collectPlans(async () => {
        for (let time = 0; time < 7; time += 1) await disputes.list(query, query);
      });
      const description = `${JSON.stringify(query)} as it was planned`;
      expect(plans).toHaveLength(7);
      for (const plan of plans) {
        // Nearly all are of one application, so the order of all of them is as good as its own.
        expect(plan, description).toMatch(/Index Scan using disputes__(?:list|payment|all)/);
        expect(plan, description).not.toMatch(/Seq Scan|Rows Removed by Filter: \d{2,}|Bitmap/);
        // A page of 21 rows that are spread over the table.
        expect(countBlocks(plan), description).toBeLessThan(40);
      }
    }
  });

  it('every query uses an index, except the allowed scans', async () => {
    const wrong: string[] = [];
    for (const [file, { calls }] of Object.entries(everyStatement(sql, { application, count })))
      for (const [name, call] of Object.entries(calls)) {
        const plans = await collectPlans(call);
        if (plans.length === 0) wrong.push(`${file}, ${name}: is not explained`);
        for (const scan of plans.join('\n').match(growingTableScan) ?? [])
          wrong.push(`${file}, ${name}: ${scan}`);
      }
    expect(new Set(wrong)).toEqual(new Set(Object.keys(allowedScans)));
  });

  it('the test covers every method of every table', () => {
    const own = everyStatement(sql, { application, count });
    const files = projectFiles().flatMap((path) => {
      const [, file] = /^postgres\/([\w-]+\.ts)$/.exec(path) ?? [];
      return file && /^export const create\w+ = \(sql\b/m.test(readProjectFile(path)) ? [file] : [];
    });
    expect([...Object.keys(own), ...smallTableFiles].sort()).toEqual(files.sort());
    for (const [file, { methods, calls }] of Object.entries(own)) {
      const covered = new Set(Object.keys(calls).map((name) => name.replace(/,.*/, '')));
      expect([...covered].sort(), file).toEqual(Object.keys(methods).sort());
    }
  });
});
