import { type WorkflowStart, workflowStartFields } from '../../contract/payment.ts';
import type { Queries } from '../driver/sql.ts';
import { selectPayment, selectTraceId } from '../payment-columns.ts';

/** A payment whose workflow is to be started. `traceId` is that of the create request, if it had one. */
export type OutboxEntry = WorkflowStart & { traceId: string | null };

export const createWorkflowOutbox = (sql: Queries) => ({
  async delete(paymentIds: readonly string[]): Promise<void> {
    await sql`delete from workflow_outbox where payment_id = any(${[...paymentIds]})`;
  },

  /** Stops counting at `limit`. */
  async count(limit: number): Promise<number> {
    const [row] = await sql<{ count: number }[]>`
      select count(*) from (
        select from workflow_outbox order by created_at limit ${limit}
      ) as entries`;
    return row?.count ?? 0;
  },

  /** Oldest first. Entries younger than `age` are left to the API process that is starting them. */
  async list({ limit, age }: { limit: number; age: string }): Promise<OutboxEntry[]> {
    return sql<OutboxEntry[]>`
      select ${selectPayment(sql, workflowStartFields)}, ${selectTraceId(sql)}
      from workflow_outbox o join payments p on p.id = o.payment_id
      where o.created_at < now() - ${age}::interval
      order by o.created_at limit ${limit}`;
  },
});
export type WorkflowOutbox = ReturnType<typeof createWorkflowOutbox>;
