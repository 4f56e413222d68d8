import type { Sql } from '../../postgres/driver/connection.ts';
import { interceptQueries } from '../../postgres/driver/intercept-queries.ts';

/** The same pool, and how many statements it was asked. */
export const countedSql = (pool: Sql) => {
  let statements = 0;
  const sql = interceptQueries(pool, (statement) => {
    statements += 1;
    return statement;
  });
  return { sql, statements: () => statements };
};
