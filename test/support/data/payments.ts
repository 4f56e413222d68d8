import { newPaymentId } from '../../../contract/ids.ts';
import type { Status } from '../../../contract/status.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

export interface WrittenPayment {
  application: string;
  createdAt: Date;
  orderId?: string;
  status?: Status;
  test?: boolean;
}

/** Inserts a payment without a workflow, for tests that only read. @returns its id */
export const writePayment = async (
  sql: Sql,
  { application, createdAt, orderId = 'o', status = 'pending', test = true }: WrittenPayment,
): Promise<string> => {
  const id = newPaymentId();
  await sql`
    insert into payments (id, application, test, order_id, status, amount, currency, gateway,
      callback_url, metadata, expires_at, created_at, updated_at, paid_at, failure_code)
    values (${id}, ${application}, ${test}, ${orderId}, ${status}, 1250, 'EUR', 'sandbox',
      'http://127.0.0.1:9/return', '{}', ${new Date(createdAt.getTime() + 1_800_000)}, ${createdAt},
      ${createdAt}, ${status === 'paid' ? createdAt : null}, ${status === 'failed' ? 'unknown' : null})`;
  return id;
};
