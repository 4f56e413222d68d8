import type { AuditFacts } from '../audit-log.ts';
import { createAuditLog } from '../audit-log.ts';
import { changesOne, first, type Queries, type Sql } from '../driver/sql.ts';

/**
 * `returns`: the gateway returns the money without a call. `reversed`: it was returned after a call.
 * `by_hand`: the result is unknown, or the gateway does not return it, so a person must look.
 */
export type LatePaymentResult = 'returns' | 'reversed' | 'by_hand';

export interface LatePayment {
  /** The number of calls that asked the gateway to return the money. */
  reversals: number;
  /** Null while it is being resolved. */
  result: LatePaymentResult | null;
}

export interface LatePaymentChange {
  /** Null when the money was found and is not resolved yet. */
  result: LatePaymentResult | null;
  /** The result that this one follows, where money that was resolved has moved once more. */
  was?: LatePaymentResult | null;
  /** The amount that the gateway says it captured, in minor units. */
  captured?: { amount: number; currency: string } | undefined;
  /** For the audit log. */
  facts: AuditFacts;
  /** False for money that is not real: an application could grow the audit log with it. */
  isAudited?: boolean;
  now: Date;
}

/** Money that arrived after its payment had ended without it. Every change is in the audit log. */
export const createLatePayments = (sql: Sql) => ({
  get: (paymentId: string) =>
    first(sql<LatePayment[]>`
      select reversals, result from late_payments where payment_id = ${paymentId}`),

  /**
   * False if the payment has this or a later state already; then nothing is written. `returns` is not final: the
   * money may be captured after it.
   */
  async record(
    paymentId: string,
    { result, was = null, captured, facts, now, isAudited = true }: LatePaymentChange,
  ): Promise<boolean> {
    let recorded = false;
    await sql.begin(async (tx) => {
      const { count } = await tx`
        insert into late_payments as l (payment_id, found_at, result, resolved_at, amount, currency)
        values (${paymentId}, ${now}, ${result}, ${result && now}, ${captured?.amount ?? null},
          ${captured?.currency ?? null})
        on conflict (payment_id) do update
          set result = excluded.result, resolved_at = excluded.resolved_at,
            amount = coalesce(excluded.amount, l.amount), currency = coalesce(excluded.currency, l.currency)
          where (l.result is null and excluded.result is not null)
            or (l.result = 'returns' and excluded.result is distinct from 'returns')
            or l.result = ${was}`;
      recorded = count === 1;
      if (recorded && isAudited)
        await createAuditLog(tx).insert({
          actor: 'service',
          action: `payment.late_payment_${result ?? 'found'}`,
          subject: `payment:${paymentId}`,
          before: null,
          after: facts,
          reason: null,
          via: null,
        });
    });
    return recorded;
  },

  /** Keeps the gateway's number of money that is not paid here. */
  async keepTrackingCode(paymentId: string, trackingCode: string): Promise<void> {
    await sql`
      update payments set tracking_code = ${trackingCode}
      where id = ${paymentId} and tracking_code is null and status in ('failed', 'cancelled', 'expired')`;
  },

  /**
   * Written before each call that reverses the money, so that a crash cannot repeat a call unnoticed.
   * @returns false after `maxReversals` calls, or if the last call was after `lastBefore`: then the
   *   gateway may only be asked what happened
   */
  beginReversal: (
    paymentId: string,
    { maxReversals, lastBefore, now }: { maxReversals: number; lastBefore: Date; now: Date },
  ) =>
    changesOne(sql`
      update late_payments set reversals = reversals + 1, reversal_at = ${now}
      where payment_id = ${paymentId} and result is null and reversals < ${maxReversals}
        and (reversal_at is null or reversal_at <= ${lastBefore})`),
});

/** A person has looked after the money. False if there is none to look after. */
export const checkLateMoney = (sql: Queries, paymentId: string, now: Date): Promise<boolean> =>
  changesOne(sql`
    update late_payments set checked_at = ${now}
    where payment_id = ${paymentId} and result = 'by_hand' and checked_at is null`);
export type LatePayments = ReturnType<typeof createLatePayments>;
