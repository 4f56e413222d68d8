import type { Queries } from './driver/sql.ts';

/** The clock of Postgres, not the start of a transaction. */
export const readClock = async (sql: Queries): Promise<Date> => {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  if (!row) throw new Error('A select without a condition returned no row');
  return row.now;
};
