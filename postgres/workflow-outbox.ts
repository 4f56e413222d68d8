import type { WorkflowStart } from '../contract/payment.ts';
import type { Queries } from './driver/sql.ts';
import { workflowStartColumns } from './payments.ts';

/** `traceId`: that of the create, where its caller sent one. */
export type OutboxEntry = WorkflowStart & { traceId: string | null };

export const createWorkflowOutbox = (sql: Queries) => ({
  async delete(paymentIds: readonly string[]): Promise<void> {
    await sql`delete from workflow_outbox where payment_id = any(${[...paymentIds]})`;
  },

  /** Counts no further than `limit`. */
  async count(limit: number): Promise<number> {
    const [row] = await sql<{ count: number }[]>`
      select count(*) from (
        select from workflow_outbox order by created_at limit ${limit}
      ) as waiting`;
    return row?.count ?? 0;
  },

  /** Oldest first; `age` leaves alone those whose API process is starting them right now. */
  async list({ limit, age }: { limit: number; age: string }): Promise<OutboxEntry[]> {
    return sql<OutboxEntry[]>`
      select ${workflowStartColumns(sql)}, u.trace_id as "traceId"
      from workflow_outbox u join payments p on p.id = u.payment_id
      where u.created_at < now() - ${age}::interval
      order by u.created_at limit ${limit}`;
  },
});
export type WorkflowOutbox = ReturnType<typeof createWorkflowOutbox>;
