import type { StartFacts } from '../contract/payment.ts';
import type { Sql } from './connection.ts';
import { startFactsColumns } from './payments.ts';

/** `traceId`: that of the create, where its caller sent one. */
export type UnstartedPayment = StartFacts & { traceId: string | null };

export const createUnstarted = (sql: Sql) => ({
  async delete(paymentIds: readonly string[]): Promise<void> {
    await sql`delete from unstarted where payment_id = any(${[...paymentIds]})`;
  },

  /** Counts no further than `limit`. */
  async count(limit: number): Promise<number> {
    const [row] = await sql<{ count: number }[]>`
      select count(*) from (
        select from unstarted order by created_at limit ${limit}
      ) as waiting`;
    return row?.count ?? 0;
  },

  /** Oldest first; `age` leaves alone those whose API process is starting them right now. */
  async list({ limit, age }: { limit: number; age: string }): Promise<UnstartedPayment[]> {
    return sql<UnstartedPayment[]>`
      select ${startFactsColumns(sql)}, u.trace_id as "traceId"
      from unstarted u join payments p on p.id = u.payment_id
      where u.created_at < now() - ${age}::interval
      order by u.created_at limit ${limit}`;
  },
});
export type Unstarted = ReturnType<typeof createUnstarted>;
