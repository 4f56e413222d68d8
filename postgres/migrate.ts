import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAway, type Sql } from './driver/connection.ts';

interface Migration {
  name: string;
  text: string;
  sha256: string;
}

const lockKey = 7_241_803;
const lockTimeoutMs = 60_000;
/**
 * Whoever waits for a table has all others wait behind him: rather gives up, and tries again. Longer than
 * Postgres's deadlock_timeout of 1 s, after which an autovacuum makes way for who waits.
 */
const tableLockMs = 1_500;
const lockNotAvailable = '55P03';

const readMigrations = (folder: URL): Migration[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8');
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
    });

/**
 * Brings the database to the newest schema, one transaction a file, forward only.
 * Safe when several processes start at once.
 * @returns the names of the files it applied
 * @throws Error when an applied file was edited, is unknown, or a new one would go before it
 */
export const migrate = async (
  sql: Sql,
  folder = new URL('./migrations/', import.meta.url),
): Promise<string[]> => {
  const connection = await sql.reserve();
  let isLost = false;
  try {
    await lock(connection);
    // The limit is for the service's own statements: a large index takes minutes.
    await connection`set statement_timeout = 0`;
    await connection`
      create table if not exists migrations (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`;
    const applied = await connection<{ name: string; sha256: string }[]>`
      select name, sha256 from migrations order by name collate "C"`;
    const pending = pendingOf(readMigrations(folder), applied);
    for (const migration of pending) await applyPatiently(connection, migration);
    return pending.map(({ name }) => name);
  } catch (error) {
    isLost = isAway(error) || (error instanceof Error && isAway(error.cause));
    throw error;
  } finally {
    if (!isLost) await giveBack(connection);
  }
};

/** One that is lost has given everything back: the library would wait for its answers for ever. */
const giveBack = async (connection: Awaited<ReturnType<Sql['reserve']>>) => {
  await connection`reset statement_timeout`.catch(() => {});
  await connection`reset lock_timeout`.catch(() => {});
  await connection`select pg_advisory_unlock(${lockKey})`.catch(() => {});
  connection.release();
};

/** Polls: waiting inside pg_advisory_lock() deadlocks with `create index concurrently`. */
const lock = async (connection: Sql) => {
  for (const until = Date.now() + lockTimeoutMs; ; await sleep(100)) {
    const [row] = await connection<{ locked: boolean }[]>`
      select pg_try_advisory_lock(${lockKey}) as locked`;
    if (row?.locked) return;
    if (Date.now() > until) throw new Error('Another process has been migrating for a minute');
  }
};

const pendingOf = (
  files: Migration[],
  applied: readonly { name: string; sha256: string }[],
): Migration[] => {
  for (const { name, sha256 } of applied) {
    const file = files.find((candidate) => candidate.name === name);
    if (!file)
      throw new Error(`The database has migration ${name}, which this version does not know`);
    if (file.sha256 !== sha256)
      throw new Error(`Migration ${name} was edited after it was applied`);
  }
  const newest = applied.at(-1)?.name ?? '';
  const pending = files.filter(({ name }) => !applied.some((row) => row.name === name));
  const early = pending.find(({ name }) => name < newest);
  if (early) throw new Error(`Migration ${early.name} comes before ${newest}, which is applied`);
  return pending;
};

/** A statement of somebody else may hold a table for long: that is waited for in short turns. */
const applyPatiently = async (connection: Sql, migration: Migration) => {
  for (const until = Date.now() + lockTimeoutMs; ; await sleep(tableLockMs)) {
    try {
      return await apply(connection, migration);
    } catch (error) {
      const cause: unknown = error instanceof Error ? error.cause : undefined;
      const waits = cause instanceof Error && 'code' in cause && cause.code === lockNotAvailable;
      if (!waits || Date.now() > until) throw error;
    }
  }
};

const apply = async (connection: Sql, { name, text, sha256 }: Migration) => {
  // A file that cannot run inside a transaction says so in its first line.
  const transactional = !text.startsWith('-- no-transaction');
  // An index that is built beside others' work waits for their transactions, however long they take.
  await connection.unsafe(`set lock_timeout = ${transactional ? tableLockMs : 0}`);
  if (transactional) await connection`begin`;
  try {
    if (!transactional) await dropLeftovers(connection, text);
    await connection.unsafe(text).simple();
    await connection`insert into migrations (name, sha256) values (${name}, ${sha256})`;
    if (transactional) await connection`commit`;
  } catch (error) {
    if (transactional && !isAway(error)) await connection`rollback`;
    throw new Error(`Migration ${name} failed: ${String(error)}`, { cause: error });
  }
};

/**
 * The index of a file that was cut short: unfinished, or finished and not written down as applied.
 * It would be in the way for ever, and nobody can tell whether it is the one the file means.
 */
const dropLeftovers = async (connection: Sql, text: string) => {
  for (const [, name = ''] of text.matchAll(/\bcreate (?:unique )?index concurrently (\w+)/gi))
    await connection`drop index concurrently if exists ${connection(name)}`;
};
