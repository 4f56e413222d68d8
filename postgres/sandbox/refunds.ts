import { randomBytes } from 'node:crypto';
import type { RefundFailureCode } from '../../contract/refund-failure-codes.ts';
import type {
  SandboxRefundOutcome,
  SandboxRefundPlan,
} from '../../contract/sandbox-refund-plan.ts';
import type { Fragment, Queries, Sql } from '../driver/sql.ts';

/** A refund in the sandbox gateway's own records. */
export interface SandboxRefund {
  reference: string;
  /** Null for a refund that was made at the gateway's dashboard. */
  refundId: string | null;
  amount: number;
  currency: string;
  state: 'pending' | 'waiting_for_balance' | 'succeeded' | 'failed';
  /** Null unless it failed. */
  failureCode: RefundFailureCode | null;
  /** When a waiting one ends; null for the others. */
  endsAt: Date | null;
  /** When the bank sends the money of one that has succeeded back; null for the others. */
  returnsAt: Date | null;
  acceptedAt: Date;
}

/** An entry of the sandbox gateway's own book. The amount is signed. */
export interface SandboxEntry {
  id: string;
  /** Of the payment or the refund. */
  source: string;
  kind: 'payment' | 'refund' | 'refund_returned';
  at: Date;
  amount: number;
  currency: string;
  paymentReference: string;
  refundId: string | null;
}

/** What the gateway makes of being told to give money back. `lost`: it does not answer. */
export type SandboxRefundAnswer =
  | { result: 'accepted'; refund: SandboxRefund }
  | { result: 'refused'; failureCode: RefundFailureCode }
  | { result: 'lost' };

/**
 * Inserts a refund that the gateway carries out by a test's plan: a part of the statement that creates the
 * refund, which has a query named `refund` with `id`, `payment_id` and `amount`.
 */
export const insertPlannedRefund = (sql: Queries, plan: SandboxRefundPlan): Fragment => sql`
  insert into sandbox_refunds (reference, refund_id, payment_id, amount, outcome, failure_code, after_seconds)
  select ${newReference()}, id, payment_id, amount, ${plan.outcome}, ${failureCodeOf(plan)}::text,
    ${plan.after_seconds}::int
  from refund`;

const failureCodeOf = ({ outcome, failure_code }: SandboxRefundPlan): RefundFailureCode | null => {
  if (outcome === 'failed') return failure_code ?? 'gateway_refused';
  if (outcome === 'refused') return failure_code ?? 'insufficient_balance';
  return outcome === 'returned' ? 'returned_by_bank' : null;
};

const newReference = () => `SBXR${randomBytes(12).toString('hex')}`;

interface Told {
  outcome: SandboxRefundOutcome;
  failureCode: RefundFailureCode | null;
  timesTold: number;
  acceptedAt: Date | null;
}

export const createSandboxRefunds = (sql: Sql) => {
  const endsAt = sql`r.accepted_at + make_interval(secs => r.after_seconds)`;
  const state = sql`case
    when r.outcome in ('failed', 'returned') and ${endsAt} <= now() then 'failed'
    when r.outcome in ('failed', 'pending') and ${endsAt} > now() then 'pending'
    when r.outcome = 'waiting_for_balance' and ${endsAt} > now() then 'waiting_for_balance'
    else 'succeeded' end`;

  const list = (paymentReference: string, db: Queries = sql): Promise<SandboxRefund[]> =>
    db<SandboxRefund[]>`
      select reference, "refundId", amount, currency, state, "acceptedAt",
        case when state = 'failed' then planned end as "failureCode",
        case when state in ('pending', 'waiting_for_balance') then "endsAt" end as "endsAt",
        case when state = 'succeeded' and outcome = 'returned' then "endsAt" end as "returnsAt"
      from (
        select r.reference, r.outcome, r.refund_id as "refundId", r.amount, p.currency, ${state} as state,
          r.failure_code as planned, ${endsAt} as "endsAt", r.accepted_at as "acceptedAt"
        from sandbox_refunds r join sandbox_payments p on p.payment_id = r.payment_id
        where p.reference = ${paymentReference} and r.accepted_at is not null) refunds
      order by "acceptedAt", reference`;

  /** Of a payment that is verified: locks it, so that its refunds come one after the other. */
  const findPaid = async (tx: Queries, reference: string) => {
    const [payment] = await tx<{ id: string; amount: number }[]>`
      select payment_id as id, amount from sandbox_payments
      where reference = ${reference} and state = 'verified' for update`;
    return payment;
  };

  return {
    /**
     * The movements of money from a time until before another, after an entry: verified payments, refunds, and the money of
     * refunds that came back.
     */
    async listBook(
      { from, to }: { from: Date; to: Date },
      { at, id }: { at: Date; id: string },
      limit: number,
    ): Promise<SandboxEntry[]> {
      return sql<SandboxEntry[]>`
        select id, source, kind, at, amount, currency, "paymentReference", "refundId" from (
          select reference as id, reference as source, 'payment' as kind, verified_at as at, amount, currency,
            reference as "paymentReference", null as "refundId"
          from sandbox_payments where verified_at >= ${from} and verified_at < ${to}
          union all
          select r.reference || case when moved.sign > 0 then '-returned' else '' end, r.reference,
            case when moved.sign > 0 then 'refund_returned' else 'refund' end,
            case when r.outcome in ('pending', 'waiting_for_balance') or moved.sign > 0 then ${endsAt}
              else r.accepted_at end,
            moved.sign * r.amount, p.currency, p.reference, r.refund_id
          from sandbox_refunds r join sandbox_payments p on p.payment_id = r.payment_id
          cross join (values (-1), (1)) as moved (sign)
          where r.accepted_at >= ${from}::timestamptz - interval '1 day' and r.accepted_at < ${to}
            and r.outcome <> 'failed' and (moved.sign < 0 or r.outcome = 'returned')
        ) entries
        where at >= ${from} and at < ${to} and at <= now() and (date_trunc('milliseconds', at), id) > (${at}, ${id})
        order by date_trunc('milliseconds', at), id limit ${limit}`;
    },

    /** Every refund that the gateway has taken on, the oldest first. */
    list: (paymentReference: string) => list(paymentReference),

    /** Tells the gateway to give money back. The same id is carried out once. */
    async tell(
      paymentReference: string,
      { id, amount }: { id: string; amount: number },
    ): Promise<SandboxRefundAnswer> {
      return sql.begin(async (tx) => {
        const payment = await findPaid(tx, paymentReference);
        if (!payment) return { result: 'refused', failureCode: 'not_refundable' };
        const [refund] = await tx<Told[]>`
          insert into sandbox_refunds as r (reference, refund_id, payment_id, amount, outcome, times_told)
          values (${newReference()}, ${id}, ${payment.id}, ${amount}, 'succeeded', 1)
          on conflict (refund_id) do update set times_told = r.times_told + 1
          returning outcome, failure_code as "failureCode", times_told as "timesTold", accepted_at as "acceptedAt"`;
        if (!refund) throw new Error('The sandbox gateway returned no refund');
        const { outcome, failureCode, timesTold, acceptedAt } = refund;
        if (outcome === 'request_lost' && timesTold === 1) return { result: 'lost' };
        if (!acceptedAt) {
          if (outcome === 'refused')
            return { result: 'refused', failureCode: failureCode ?? 'unknown' };
          if (outcome === 'whole_only' && amount !== payment.amount)
            return { result: 'refused', failureCode: 'not_refundable' };
          const given = (await list(paymentReference, tx))
            .filter((one) => one.state !== 'failed')
            .reduce((sum, one) => sum + one.amount, 0);
          if (given + amount > payment.amount)
            return { result: 'refused', failureCode: 'already_refunded' };
          await tx`update sandbox_refunds set accepted_at = now() where refund_id = ${id}`;
        }
        if (outcome === 'answer_lost' && timesTold === 1) return { result: 'lost' };
        const accepted = (await list(paymentReference, tx)).find((one) => one.refundId === id);
        if (!accepted) throw new Error('The sandbox gateway lost a refund');
        return { result: 'accepted', refund: accepted };
      });
    },

    /** A person gives money back at the gateway's dashboard. False if the payment is not paid there. */
    async makeAtDashboard(paymentReference: string, amount: number): Promise<boolean> {
      return sql.begin(async (tx) => {
        const payment = await findPaid(tx, paymentReference);
        if (!payment) return false;
        await tx`
          insert into sandbox_refunds (reference, payment_id, amount, outcome, accepted_at)
          values (${newReference()}, ${payment.id}, ${amount}, 'succeeded', now())`;
        return true;
      });
    },
  };
};
export type SandboxRefunds = ReturnType<typeof createSandboxRefunds>;
