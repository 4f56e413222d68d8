import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplications } from '../../../postgres/applications.ts';
import type { Sql } from '../../../postgres/driver/connection.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../../../postgres/gateways.ts';
import { createPayments } from '../../../postgres/payments.ts';
import { everyStatement, exceptions, idOf, small } from '../../support/every-statement.ts';
import { projectFiles, readProjectFile } from '../../support/files.ts';
import { fill, fillForAdmins } from '../../support/fill.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import { until } from '../../support/until.ts';

const application = 'big';
const count = 100_000;

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
/** The server logs the plans of its statements. */
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
  await fillForAdmins(postgres.sql);
  await postgres.sql`alter database payments set auto_explain.log_min_duration = 0`;
  sql = connect(postgres.url, { name: 'explained', max: 1 });
}, 300_000);
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await postgres?.drop();
});

/** The executed plans of all statements in `work`. */
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

/** A full scan of a table that grows with payments and tokens. */
const fullScan =
  /Seq Scan on (?:payments|events|deliveries|attempts|workflow_outbox|idempotency_keys|sandbox_payments|gateway_exchanges|late_payments|audit_log|tokens)\b/g;

/** The number of blocks that a statement has read, from cache or disk. */
const blocksIn = (plan: string): number => {
  const [, hit = 0, read = 0] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
  return Number(hit) + Number(read);
};

const owner = { application, test: true };

describe('at 100,000 payments', { timeout: 300_000 }, () => {
  it('a list reads only the rows it returns, for every filter, by page and by cursor', async () => {
    const payments = createPayments(sql);
    const second = (n: number) => new Date(Date.now() - n * 1000);
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
      // Seven times, because Postgres may switch to a generic plan after the fifth.
      const plans = await plansOf(async () => {
        for (let time = 0; time < 7; time += 1) await payments.list(owner, query);
      });
      const what = JSON.stringify(query);
      expect(plans).toHaveLength(7);
      for (const plan of plans) {
        expect(plan, what).toMatch(/Index Scan using payments__list/);
        expect(plan, what).not.toMatch(/Seq Scan|Sort|Rows Removed by Filter|Bitmap/);
        // Enough for 21 rows that are spread over the table, but not for a walk along the index.
        expect(blocksIn(plan), what).toBeLessThan(40);
      }
    }
  });

  it('every statement uses an index, except the listed ones', async () => {
    const wrong: string[] = [];
    for (const [file, { calls }] of Object.entries(everyStatement(sql, { application, count })))
      for (const [name, call] of Object.entries(calls)) {
        const plans = await plansOf(call);
        if (plans.length === 0) wrong.push(`${file}, ${name}: has no plan`);
        for (const scan of plans.join('\n').match(fullScan) ?? [])
          wrong.push(`${file}, ${name}: ${scan}`);
      }
    expect(new Set(wrong)).toEqual(new Set(Object.keys(exceptions)));
  });

  it('the list of statements is complete', () => {
    const own = everyStatement(sql, { application, count });
    const files = projectFiles().flatMap((path) => {
      const [, file] = /^postgres\/([\w-]+\.ts)$/.exec(path) ?? [];
      return file && /^export const create\w+ = \(sql\b/m.test(readProjectFile(path)) ? [file] : [];
    });
    expect([...Object.keys(own), ...small].sort()).toEqual(files.sort());
    for (const [file, { methods, calls }] of Object.entries(own)) {
      const covered = new Set(Object.keys(calls).map((name) => name.replace(/,.*/, '')));
      expect([...covered].sort(), file).toEqual(Object.keys(methods).sort());
    }
  });
});
