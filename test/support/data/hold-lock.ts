import type { Queries, Sql } from '../../../postgres/driver/sql.ts';
import { until } from '../until.ts';

/** Holds a lock until it is released, so that queries which need it block. */
export const holdLock = async (sql: Sql, lock: (tx: Queries) => Promise<unknown>) => {
  const connection = await sql.reserve();
  await connection`begin`;
  await lock(connection);
  const end = async (how: 'commit' | 'rollback') => {
    await connection.unsafe(how);
    connection.release();
  };
  return {
    /** Waits until `count` queries of the program named `by` wait for a lock. */
    blocked: (description: string, { by = 'tests', count = 1 } = {}) =>
      until(`${description} waits for the lock`, async () => {
        const rows = await sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and application_name = ${by}`;
        return rows.length >= count;
      }),
    /** Rolls back. */
    release: () => end('rollback'),
    /** Commits the changes that `lock` made. */
    commit: () => end('commit'),
  };
};
