import type { Sql } from '../driver/sql.ts';
import { interceptQueries } from '../driver/intercept-queries.ts';
import type { DatabaseMetrics } from '../../telemetry/metrics.ts';

/** Counts and times the statements of a pool. */
export const instrumentSql = (sql: Sql, { inFlight, statementDuration }: DatabaseMetrics): Sql =>
  interceptQueries(sql, (run) => {
    const began = performance.now();
    inFlight.statements += 1;
    const end = () => {
      inFlight.statements -= 1;
      statementDuration.observe((performance.now() - began) / 1000);
    };
    const statement = run();
    // Not awaited: the caller gets its result without a delay.
    statement.then(end, end);
    return statement;
  });
