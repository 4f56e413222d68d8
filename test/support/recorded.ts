import type { Sql } from '../../postgres/driver/connection.ts';
import { until } from './until.ts';

/** Waits for the end of a payment's first attempt to deliver, as the ledger tells it. */
export const firstAttemptOf = (sql: Sql, paymentId: string) =>
  until('the first attempt is recorded', async () => {
    const rows = await sql`
      select from attempts where payment_id = ${paymentId} and completed_at is not null`;
    return rows.length > 0;
  });
