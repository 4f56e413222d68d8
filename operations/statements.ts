import type { Sql } from '../postgres/connection.ts';
import { aroundStatements } from '../postgres/statements.ts';
import type { DatabaseMetrics } from './metrics.ts';

/** The same pool, its statements counted: more in flight than it has connections means waiting. */
export const measuredSql = (sql: Sql, { inFlight, statementDuration }: DatabaseMetrics): Sql =>
  aroundStatements(sql, (statement) => {
    const began = performance.now();
    inFlight.statements += 1;
    const end = () => {
      inFlight.statements -= 1;
      statementDuration.observe((performance.now() - began) / 1000);
    };
    // Beside its caller, who does not wait for this.
    statement.then(end, end);
    return statement;
  });
