import type { Sql } from '../postgres/connection.ts';
import { aroundStatements } from '../postgres/statements.ts';
import type { DatabaseMetrics } from './metrics.ts';

/** The same pool, its statements counted: more in flight than it has connections means waiting. */
export const measuredSql = (
  sql: Sql,
  { statementsInFlight, statementDuration }: DatabaseMetrics,
): Sql =>
  aroundStatements(sql, async (statement) => {
    const end = statementDuration.startTimer();
    statementsInFlight.inc();
    try {
      return await statement;
    } finally {
      statementsInFlight.dec();
      end();
    }
  });
