import type { FailureCode } from '../contract/failure-codes.ts';
import type { SandboxOutcome } from '../contract/sandbox-plan.ts';
import type { Queries } from './driver/sql.ts';

/** How the payer of a test acts. Rows are deleted once that is over. */
export interface StoredPlan {
  paymentId: string;
  outcome: SandboxOutcome;
  failureCode: FailureCode | null;
  afterSeconds: number;
  returns: boolean;
}

/** Longer than a payer waits at the checkout. */
const leaseSeconds = 20;

export const createSandboxPlans = (sql: Queries) => ({
  /**
   * Claims plans that are due. A plan whose process was killed is due again when its lease is over; playing a
   * part twice does no harm.
   */
  async claim(limit: number): Promise<StoredPlan[]> {
    return sql<StoredPlan[]>`
      update sandbox_plans set due_at = now() + make_interval(secs => ${leaseSeconds}::int)
      where payment_id = any(array(
        select payment_id from sandbox_plans where due_at <= now()
        order by due_at limit ${limit} for update skip locked))
      returning payment_id as "paymentId", outcome, failure_code as "failureCode",
        after_seconds as "afterSeconds", returns`;
  },

  async postpone(paymentId: string, dueAt: Date): Promise<void> {
    await sql`update sandbox_plans set due_at = ${dueAt} where payment_id = ${paymentId}`;
  },

  async delete(paymentId: string): Promise<void> {
    await sql`delete from sandbox_plans where payment_id = ${paymentId}`;
  },
});
export type SandboxPlans = ReturnType<typeof createSandboxPlans>;
