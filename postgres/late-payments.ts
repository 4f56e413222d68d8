import type { AuditFacts } from './audit-log.ts';
import { createAuditLog } from './audit-log.ts';
import type { Sql } from './driver/sql.ts';

/** What became of it. `by_hand`: nobody can tell, or the gateway does not give it back. */
export type LatePaymentResult = 'returns' | 'reversed' | 'by_hand';

export interface LatePayment {
  /** How often the gateway was told to give it back. */
  reversals: number;
  /** Null while it is being worked on. */
  result: LatePaymentResult | null;
}

export interface LateFacts {
  /** Null when it is found, and not yet where it is to be. */
  result: LatePaymentResult | null;
  /** For the audit log. */
  facts: AuditFacts;
  now: Date;
}

/** Money that came after its payment had ended; every change of it is in the audit log. */
export const createLatePayments = (sql: Sql) => ({
  async get(paymentId: string): Promise<LatePayment | undefined> {
    const [row] = await sql<LatePayment[]>`
      select reversals, result from late_payments where payment_id = ${paymentId}`;
    return row;
  },

  /** False, and nothing is written, where that much is known already. */
  async record(paymentId: string, { result, facts, now }: LateFacts): Promise<boolean> {
    let recorded = false;
    await sql.begin(async (tx) => {
      const { count } = await tx`
        insert into late_payments as l (payment_id, found_at, result, resolved_at)
        values (${paymentId}, ${now}, ${result}, ${result && now})
        on conflict (payment_id) do update
          set result = excluded.result, resolved_at = excluded.resolved_at
          where l.result is null and excluded.result is not null`;
      recorded = count === 1;
      if (recorded)
        await createAuditLog(tx).insert({
          actor: 'service',
          action: `payment.late_payment_${result ?? 'found'}`,
          subject: `payment:${paymentId}`,
          before: null,
          after: facts,
          reason: null,
        });
    });
    return recorded;
  },

  /**
   * Written before the gateway is told to give it back, so that a crash cannot make it two times.
   * @returns false where it was told `most` times, or after `notAfter`: then it is asked, not told
   */
  async beginReversal(
    paymentId: string,
    { most, notAfter, now }: { most: number; notAfter: Date; now: Date },
  ): Promise<boolean> {
    const { count } = await sql`
      update late_payments set reversals = reversals + 1, reversal_at = ${now}
      where payment_id = ${paymentId} and result is null and reversals < ${most}
        and (reversal_at is null or reversal_at <= ${notAfter})`;
    return count === 1;
  },
});
export type LatePayments = ReturnType<typeof createLatePayments>;
