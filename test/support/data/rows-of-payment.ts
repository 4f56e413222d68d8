import { eventId } from '../../../contract/ids.ts';
import type { Fragment, Sql } from '../../../postgres/driver/sql.ts';

/** The condition for the rows of a payment. Attempts know only their event. */
export const belongsTo = (sql: Sql, table: string, paymentId: string): Fragment =>
  table === 'attempts' ? sql`event_id = ${eventId(paymentId)}` : sql`payment_id = ${paymentId}`;
