import type { Sql } from '../../postgres/connection.ts';
import { aroundStatements } from '../../postgres/statements.ts';

/** The same pool, and how many statements it was asked. */
export const countedSql = (pool: Sql) => {
  let statements = 0;
  const sql = aroundStatements(pool, (statement) => {
    statements += 1;
    return statement;
  });
  return { sql, statements: () => statements };
};
