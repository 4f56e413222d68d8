import { eventId } from '../../../contract/ids.ts';
import type { Queries } from '../../../postgres/driver/sql.ts';
import { until } from '../until.ts';

/** Waits until the ledger has the result of a payment's first delivery attempt. */
export const waitForFirstAttempt = (sql: Queries, paymentId: string) =>
  until('the first attempt is recorded', async () => {
    const rows = await sql`
      select from attempts where event_id = ${eventId(paymentId)} and completed_at is not null`;
    return rows.length > 0;
  });
