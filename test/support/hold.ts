import type { Sql } from '../../postgres/driver/connection.ts';
import { until } from './until.ts';

/** Holds a lock until released, so that whoever needs it stands still in the middle of a statement. */
export const hold = async (sql: Sql, lock: (tx: Sql) => Promise<unknown>) => {
  const connection = await sql.reserve();
  await connection`begin`;
  await lock(connection);
  const end = async (how: 'commit' | 'rollback') => {
    await connection.unsafe(how);
    connection.release();
  };
  return {
    /** That many statements of a program wait for us. */
    blocked: (what: string, { by = 'tests', count = 1 } = {}) =>
      until(`${what} waits for the lock`, async () => {
        const rows = await sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and application_name = ${by}`;
        return rows.length >= count;
      }),
    release: () => end('rollback'),
    /** What was done with the lock in hand is to be seen. */
    commit: () => end('commit'),
  };
};
