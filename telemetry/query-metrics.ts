import type { Sql } from '../postgres/driver/sql.ts';
import { interceptQueries } from '../postgres/driver/intercept-queries.ts';
import type { DatabaseMetrics } from './metrics.ts';

/** The same pool, its statements counted: more in flight than it has connections means waiting. */
export const instrumentSql = (sql: Sql, { inFlight, statementDuration }: DatabaseMetrics): Sql =>
  interceptQueries(sql, (run) => {
    const began = performance.now();
    inFlight.statements += 1;
    const end = () => {
      inFlight.statements -= 1;
      statementDuration.observe((performance.now() - began) / 1000);
    };
    const statement = run();
    // Beside its caller, who does not wait for this.
    statement.then(end, end);
    return statement;
  });
