import type { Pool, Sql } from './sql.ts';

/*
 * Symptom: with `fetch_types: false` (see text-array.ts), `reserve` never settles if it has to open a
 * connection.
 * Upstream: https://github.com/porsager/postgres/issues/751, fix in …/pull/1220.
 * Remove when: that fix is released.
 */

/** `reserve` on a pool that has an open connection for it. */
export const reserveOpened = (pool: Pool): Sql['reserve'] => {
  const { reserve } = pool;
  return async () => {
    await pool`select 1`;
    return reserve();
  };
};
