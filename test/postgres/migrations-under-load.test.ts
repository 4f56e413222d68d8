import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplications } from '../../postgres/applications.ts';
import { connect } from '../../postgres/connection.ts';
import { createDeliveries } from '../../postgres/deliveries.ts';
import { createGateways } from '../../postgres/gateways.ts';
import { migrate } from '../../postgres/migrate.ts';
import { createPayments } from '../../postgres/payments.ts';
import { createSettlements } from '../../postgres/settlements.ts';
import { fill } from '../support/fill.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { aPayment, endOf, noWords } from '../support/records.ts';

const count = 100_000;
/** Later ones are applied while payments are made. */
const lastBefore = '0007_gateway_exchanges.sql';
const ours = join(import.meta.dirname, '../../postgres/migrations');

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let url: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  for (const name of readdirSync(ours).filter((each) => each <= lastBefore))
    cpSync(join(ours, name), join(folder, name));
  // Whoever waits for a lock longer than that is told of in the log.
  postgres = await startOwnPostgres({
    ...{ log_lock_waits: 'on', deadlock_timeout: '100ms' },
    // The disk is not what is looked at.
    ...{ wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '8GB', autovacuum: 'off' },
    ...{ maintenance_work_mem: '256MB', synchronous_commit: 'off' },
  });
  await postgres.sql`create database filled template template0`;
  url = postgres.url.replace(/payments$/, 'filled');
  const sql = connect(url, { name: 'filler', max: 1 });
  await migrate(sql, pathToFileURL(`${folder}/`));
  const slug = 'sandbox';
  await createGateways(sql).insert({ slug, driver: slug, kind: slug, credentials: null });
  await createApplications(sql).insert({
    slug: 'shop',
    defaultGateway: slug,
    callbackUrls: ['https://shop.example/return'],
    webhookUrl: 'https://shop.example/webhooks',
  });
  const began = performance.now();
  await fill(sql, { application: 'shop', count });
  console.info(`Filled ${count} payments in ${Math.round(performance.now() - began)} ms`);
  await sql.end();
}, 400_000);
afterAll(async () => {
  await postgres.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A payment's whole life in the database. */
const live = async (sql: ReturnType<typeof connect>) => {
  const payment = aPayment();
  await createPayments(sql).insert(payment, null);
  const { ended, event } = endOf(payment, 'failed');
  await createSettlements(sql).end(ended, event, noWords);
  const deliveries = createDeliveries(sql);
  const at = new Date();
  const attempt = { number: 1, round: 1, engineScheduledAt: at, startedAt: at };
  await deliveries.beginAttempt(payment.id, attempt);
  await deliveries.completeAttempt(payment.id, 1, {
    result: {
      ...{ durationMs: 5, responseStatus: 200, errorClass: null, error: null },
      ...{ responseBody: 'thanks', responseTruncated: false },
    },
    consequence: { status: 'delivered' },
    completedAt: at,
  });
};

/** Waits for locks that payments had while migrations of this folder were applied. */
const waitsDuring = async (migrations: string) => {
  const sql = connect(url, { name: 'load', max: 4 });
  const migrator = connect(url, { name: 'migrations', max: 1 });
  const seen = postgres.lines.length;
  let over = false;
  let lives = 0;
  const lane = async () => {
    while (!over) {
      await live(sql);
      lives += 1;
    }
  };
  const lanes = Promise.all([lane(), lane()]);
  const applied = await migrate(migrator, pathToFileURL(`${migrations}/`)).finally(() => {
    over = true;
  });
  await lanes;
  await Promise.all([sql.end(), migrator.end()]);
  // An index that is built concurrently waits for others itself, on their virtual transactions.
  const waits = postgres.lines
    .slice(seen)
    .filter((line) => /still waiting for .* on (?!virtual)/.test(line));
  return { applied, lives, waits };
};

describe(`migrations of ${count} payments, while payments are made`, () => {
  it('those after the first release keep nobody waiting for 100 ms', async () => {
    const { applied, lives, waits } = await waitsDuring(ours);
    expect(applied).toEqual(readdirSync(ours).filter((name) => name > lastBefore));
    expect(lives).toBeGreaterThan(0);
    expect(waits).toEqual([]);
  });

  it('this test would have seen it', async () => {
    cpSync(ours, folder, { recursive: true });
    writeFileSync(
      join(folder, '9999_slow.sql'),
      'create index on payments (description, metadata); select pg_sleep(0.5)',
    );
    const { waits } = await waitsDuring(folder);
    expect(waits).not.toEqual([]);
  });
});
