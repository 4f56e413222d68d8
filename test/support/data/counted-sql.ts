import { interceptQueries } from '../../../postgres/driver/intercept-queries.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

/** Wraps a pool and counts its queries. */
export const countedSql = (pool: Sql) => {
  let statements = 0;
  const sql = interceptQueries(pool, (run) => {
    statements += 1;
    return run();
  });
  return { sql, statements: () => statements };
};
