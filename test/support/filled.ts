import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createApplications } from '../../postgres/applications.ts';
import type { Payment } from '../../contract/payment.ts';
import type { Sql } from '../../postgres/connection.ts';
import { connect } from '../../postgres/connection.ts';
import { createDeliveries } from '../../postgres/deliveries.ts';
import { createGateways, sandboxAccount } from '../../postgres/gateways.ts';
import { migrate } from '../../postgres/migrate.ts';
import { createSettlements } from '../../postgres/settlements.ts';
import { fill } from './fill.ts';
import { startOwnPostgres } from './own-postgres.ts';
import { aPayment, endOf, noWords } from './records.ts';

const ours = join(import.meta.dirname, '../../postgres/migrations');
/** The first release's last one. */
const lastBefore = '0007_gateway_exchanges.sql';
export const laterMigrations = readdirSync(ours).filter((name) => name > lastBefore);

/** A database of the first release with so many payments, to be migrated while more are made. */
export const startFilled = async (count: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  for (const name of readdirSync(ours).filter((each) => each <= lastBefore))
    cpSync(join(ours, name), join(folder, name));
  // Whoever waits for a lock longer than that is told of in the log.
  const postgres = await startOwnPostgres({
    ...{ log_lock_waits: 'on', deadlock_timeout: '100ms' },
    // The disk is not what is looked at.
    ...{ wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '8GB', autovacuum: 'off' },
    ...{ maintenance_work_mem: '256MB', synchronous_commit: 'off' },
  });
  await postgres.sql`create database filled template template0`;
  const url = postgres.url.replace(/payments$/, 'filled');
  const sql = connect(url, { name: 'filler', max: 1, patient: true });
  await migrate(sql, pathToFileURL(`${folder}/`));
  await createGateways(sql).insert(sandboxAccount);
  await createApplications(sql).insert({
    slug: 'shop',
    defaultGateway: sandboxAccount.slug,
    callbackUrls: ['https://shop.example/return'],
    webhookUrl: 'https://shop.example/webhooks',
  });
  const began = performance.now();
  await fill(sql, { application: 'shop', count });
  console.info(`Filled ${count} payments in ${Math.round(performance.now() - began)} ms`);
  await sql.end();

  /** Waits for locks that payments had while migrations of this folder were applied. */
  const waitsDuring = async (migrations: string) => {
    const load = connect(url, { name: 'load', max: 4 });
    const migrator = connect(url, { name: 'migrations', max: 1, patient: true });
    const seen = postgres.lines.length;
    let over = false;
    let lives = 0;
    const lane = async () => {
      while (!over) {
        await live(load);
        lives += 1;
      }
    };
    const lanes = Promise.all([lane(), lane()]);
    const from = performance.now();
    const applied = await migrate(migrator, pathToFileURL(`${migrations}/`)).finally(() => {
      over = true;
    });
    const tookMs = Math.round(performance.now() - from);
    await lanes;
    await Promise.all([load.end(), migrator.end()]);
    // An index that is built concurrently waits for others itself, on their virtual transactions.
    const waits = postgres.lines
      .slice(seen)
      .filter((line) => /still waiting for .* on (?!virtual)/.test(line));
    return { applied, tookMs, lives, waits };
  };

  return {
    /** What came after the first release. */
    migrate: () => waitsDuring(ours),
    /** This besides. */
    migrateBy(text: string) {
      cpSync(ours, folder, { recursive: true });
      writeFileSync(join(folder, '9999_another.sql'), text);
      return waitsDuring(folder);
    },
    async drop() {
      await postgres.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
export type Filled = Awaited<ReturnType<typeof startFilled>>;

/** As the first release does, which runs until the migrations are through: no later column is known. */
const insert = async (sql: Sql, p: Payment): Promise<void> => {
  await sql`
    with payment as (
      insert into payments (id, application, test, order_id, status, amount, currency, gateway,
        description, callback_url, metadata, expires_at, created_at, updated_at)
      values (${p.id}, ${p.application}, ${p.test}, ${p.orderId}, ${p.status}, ${p.amount},
        ${p.currency}, ${p.gateway}, ${p.description}, ${p.callbackUrl}, ${p.metadata},
        ${p.expiresAt}, ${p.createdAt}, ${p.updatedAt})
      returning id, created_at
    )
    insert into unstarted (payment_id, created_at) select id, created_at from payment`;
};

/** A payment's whole life in the database. */
const live = async (sql: Sql) => {
  const payment = aPayment();
  await insert(sql, payment);
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

/** Of which it must be seen that payments wait for it. */
export const slowMigration = 'create index on payments (description, metadata); select pg_sleep(2)';
