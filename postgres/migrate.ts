import { setTimeout as sleep } from 'node:timers/promises';
import { version as ownVersion } from '../contract/version.ts';
import { isConnectionEnded } from './driver/error-codes.ts';
import type { Queries, ReservedConnection, Sql } from './driver/sql.ts';
import { type Migration, readMigrations } from './migration-files.ts';
import { isOfNextMinor, whyNotUpgrade } from './schema-version.ts';

const lockKey = 7_241_803;
const patienceMs = 60_000;
/**
 * A migration that waits for a table lock blocks every query behind it, so it gives up after this time and
 * retries. Longer than Postgres's deadlock_timeout, 1 s, after which an autovacuum yields to it.
 */
const tableLockMs = 1_500;
const lockNotAvailable = '55P03';

/**
 * Brings the database to the newest schema, forward only, in one transaction for each file. That of the next minor version stays.
 * Safe when several processes start at once.
 * @returns the names of the files it applied
 * @throws Error if an applied file was edited or is unknown, or if this version may not follow the one that migrated last
 */
export const migrate = async (
  sql: Sql,
  { migrations = readMigrations(), version = ownVersion, patience = patienceMs } = {},
): Promise<string[]> => {
  const connection = await sql.reserve();
  let connectionLost = false;
  try {
    await acquireLock(connection);
    // statement_timeout is meant for the service's queries: building a large index takes minutes.
    await connection`set statement_timeout = 0`;
    const [made] = await connection<{ isEarlier: boolean }[]>`
      select to_regclass('migrations') is not null and to_regclass('versions') is null as "isEarlier"`;
    if (made?.isEarlier)
      throw new Error(
        'It was made before 1.0.0, whose data no release opens: begin with an empty one',
      );
    await connection`
      create table if not exists versions (
        version text primary key,
        begun_at timestamptz not null default now(),
        migrated_at timestamptz
      )`;
    await connection`
      create table if not exists migrations (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`;
    const applied = await connection<{ name: string; sha256: string }[]>`
      select name, sha256 from migrations order by name collate "C"`;
    const known = await connection<{ version: string; isWhole: boolean }[]>`
      select version, migrated_at is not null as "isWhole" from versions order by begun_at desc`;
    // Also one whose migrations have stopped half-way: its operator goes back to this version.
    if (known[0] && isOfNextMinor(known[0].version, version)) return [];
    const last = known.find(({ isWhole }) => isWhole);
    const refusal = last && whyNotUpgrade(last.version, version);
    if (refusal) throw new Error(refusal);
    const pending = findPending(migrations, applied);
    await connection`insert into versions (version) values (${version}) on conflict do nothing`;
    for (const migration of pending) await applyWithRetry(connection, migration, patience);
    await connection`
      update versions set migrated_at = now() where version = ${version} and migrated_at is null`;
    return pending.map(({ name }) => name);
  } catch (error) {
    connectionLost =
      isConnectionEnded(error) || (error instanceof Error && isConnectionEnded(error.cause));
    throw error;
  } finally {
    if (!connectionLost) await release(connection);
  }
};

/** A lost connection has released everything; postgres.js would wait without end for its answers. */
const release = async (connection: ReservedConnection) => {
  await connection`reset statement_timeout`.catch(() => {});
  await connection`reset lock_timeout`.catch(() => {});
  await connection`select pg_advisory_unlock(${lockKey})`.catch(() => {});
  connection.release();
};

/** Polls, because waiting inside pg_advisory_lock() deadlocks with `create index concurrently`. */
const acquireLock = async (connection: Queries) => {
  for (const until = Date.now() + patienceMs; ; await sleep(100)) {
    const [row] = await connection<{ locked: boolean }[]>`
      select pg_try_advisory_lock(${lockKey}) as locked`;
    if (row?.locked) return;
    if (Date.now() > until)
      throw new Error('Another process has held the migration lock for a minute');
  }
};

const findPending = (
  files: Migration[],
  applied: readonly { name: string; sha256: string }[],
): Migration[] => {
  for (const { name, sha256 } of applied) {
    const file = files.find((candidate) => candidate.name === name);
    if (!file)
      throw new Error(`The database has migration ${name}, which is unknown to this version`);
    if (file.sha256 !== sha256)
      throw new Error(`Migration ${name} was edited after it was applied`);
  }
  return files.filter(({ name }) => !applied.some((row) => row.name === name));
};

/** Retries while another query holds a table lock, so that queries are blocked only for short times. */
const applyWithRetry = async (connection: Queries, migration: Migration, patience: number) => {
  for (const until = Date.now() + patience; ; await sleep(tableLockMs)) {
    try {
      return await apply(connection, migration, patience);
    } catch (error) {
      const cause: unknown = error instanceof Error ? error.cause : undefined;
      const lockFailed =
        cause instanceof Error && 'code' in cause && cause.code === lockNotAvailable;
      if (!lockFailed) throw error;
      if (Date.now() > until)
        throw new Error(
          `Migration ${migration.name} got no lock on its table: end the transaction that holds it, which pg_stat_activity has with the oldest xact_start, and migrate again`,
          { cause: error },
        );
    }
  }
};

const apply = async (connection: Queries, { name, text, sha256 }: Migration, patience: number) => {
  // The first line of a file says that it cannot run inside a transaction.
  const transactional = !text.startsWith('-- no-transaction');
  // `create index concurrently` blocks no query while it waits for all transactions that are open.
  const lockMs = transactional ? tableLockMs : Math.max(tableLockMs, patience);
  await connection.unsafe(`set lock_timeout = ${lockMs}`);
  if (transactional) await connection`begin`;
  try {
    if (!transactional) await dropLeftovers(connection, text);
    await connection.unsafe(text).simple();
    await connection`insert into migrations (name, sha256) values (${name}, ${sha256})`;
    if (transactional) await connection`commit`;
  } catch (error) {
    if (transactional && !isConnectionEnded(error)) await connection`rollback`;
    throw new Error(`Migration ${name} failed: ${String(error)}`, { cause: error });
  }
};

/**
 * Drops the indexes of an interrupted file: they are incomplete, or complete but the file is not recorded
 * as applied. An index that is left would make every retry fail.
 */
const dropLeftovers = async (connection: Queries, text: string) => {
  for (const [, name = ''] of text.matchAll(/\bcreate (?:unique )?index concurrently (\w+)/gi))
    await connection`drop index concurrently if exists ${connection(name)}`;
};
