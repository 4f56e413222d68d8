import { refundId } from '../../../contract/ids.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

let count = 0;

/** Writes a refund of 10 EUR as whoever has the login can, past the code of the service. */
export const insertRefund = (
  sql: Sql,
  { id, application }: { id: string; application: string },
  more: Record<string, unknown>,
) => {
  const row = {
    id: refundId(['by hand', String((count += 1))]),
    ...{ payment_id: id, application, test: true, order_id: 'order-roles', currency: 'EUR' },
    ...{ status: 'pending', stage: 'reserved', amount: 1_000, method: 'refund', metadata: '{}' },
    ...{ created_at: new Date(), updated_at: new Date(), ...more },
  };
  return sql<{ id: string; to_confirm: boolean }[]>`
    insert into refunds ${sql(row)} returning id, to_confirm`;
};
