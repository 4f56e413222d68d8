import { randomBytes } from 'node:crypto';
import type { FailureCode } from '../../contract/failure-codes.ts';
import type { Payment } from '../../contract/payment.ts';
import {
  isDispute,
  type SandboxDispute,
  type SandboxOutcome,
  type SandboxPlan,
} from '../../contract/sandbox-plan.ts';
import { type PaidTo, selectPaidTo } from '../applications/applications.ts';
import { changesOne, first, type Fragment, type Queries } from '../driver/sql.ts';

/** `open`, then the payer's choice, then `verified` when the service confirms a paid payment. */
export type SandboxState = 'open' | 'paid' | 'verified' | 'refused' | 'cancelled' | 'expired';

/** A payment in the sandbox gateway's own records. */
export interface SandboxPayment {
  reference: string;
  paymentId: string;
  amount: number;
  currency: string;
  returnUrl: string;
  state: SandboxState;
  refusal: FailureCode | null;
  trackingCode: string | null;
  cardPanMasked: string | null;
  /** A test asked for a gateway that does not answer for a while. */
  isSilent: boolean;
  /** A test asked for a first confirmation that is lost. */
  isLost: boolean;
  /** A test asked for a payer who pays after the gateway has closed the payment. */
  paysLate: boolean;
}

/** A dispute in the sandbox gateway's own records, with how it ends. */
interface SandboxDisputeRow extends Pick<SandboxPayment, 'amount' | 'currency'> {
  end: SandboxDispute;
  isOpen: boolean;
  openedAt: Date;
  endsAt: Date;
}

/** With what the gateway's page shows. */
export interface SandboxPagePayment
  extends SandboxPayment, PaidTo, Pick<Payment, 'description' | 'test'> {
  /** The language that the application knows of the payer. */
  payerLocale: string | null;
  /** The sealed data of the payer of a test payment. */
  payer: string | null;
}

/** A payer who acts by a test's plan goes to the gateway at once. Null: never comes back. */
export interface PlannedPayer {
  returnsAt: Date | null;
}

/** The payer's act at the gateway. */
export interface SandboxChoice {
  state: 'paid' | 'refused' | 'cancelled';
  refusal: FailureCode | null;
}

/** The state of the payment after the payer's act; null for one who pays after the gateway has closed it. */
const plannedStates: Record<SandboxOutcome, SandboxState | null> = {
  paid: 'paid',
  failed: 'refused',
  cancelled: 'cancelled',
  abandoned: 'expired',
  paid_late: null,
  other_amount: 'paid',
  already_verified: 'paid',
  silent: 'paid',
  dispute_won: 'paid',
  dispute_lost: 'paid',
  inquiry_closed: 'paid',
};

/** When the payer acts; null for one who does nothing. */
const actsAt = (
  { outcome, after_seconds }: SandboxPlan,
  { createdAt, expiresAt }: Pick<Payment, 'createdAt' | 'expiresAt'>,
): Date | null => {
  const at = new Date(createdAt.getTime() + after_seconds * 1000);
  if (outcome === 'abandoned') return after_seconds > 0 ? at : null;
  if (outcome === 'silent' || isDispute(outcome)) return createdAt;
  return outcome === 'paid_late' && at < expiresAt ? expiresAt : at;
};

/**
 * Inserts a payment whose payer acts by a test's plan, unless `payment` is empty: a part of the statement that
 * creates the payment. The clock then brings it to the planned state, so nobody has to act.
 */
export const insertPlanned = (
  sql: Queries,
  payment: Payment,
  plan: SandboxPlan & { returnUrl: string },
): Fragment => {
  const { outcome, failure_code = 'card_declined', after_seconds, returns, returnUrl } = plan;
  const amount = payment.amount + (outcome === 'other_amount' ? 1 : 0);
  const silentMs = outcome === 'silent' ? after_seconds * 1000 : 0;
  const paysLate = outcome === 'paid_late';
  return sql`
    insert into sandbox_payments (reference, payment_id, amount, currency, return_url, state,
      planned_state, acts_at, returns, pays_late, refusal, tracking_code, card_pan_masked,
      silent_until, lose_confirmation, dispute, dispute_seconds)
    select ${newReference()}, id, ${amount}::bigint, ${payment.currency}, ${returnUrl}, 'open',
      ${plannedStates[outcome]}, coalesce(${actsAt(plan, payment)}::timestamptz, 'infinity'),
      ${paysLate || (returns && outcome !== 'abandoned')}::boolean, ${paysLate}::boolean,
      ${outcome === 'failed' ? failure_code : null}, ${newTrackingCode()}, ${cardPanMasked},
      ${new Date(payment.createdAt.getTime() + silentMs)}::timestamptz,
      ${outcome === 'already_verified'}::boolean, ${isDispute(outcome) ? outcome : null},
      ${isDispute(outcome) ? after_seconds : null}::int
    from payment`;
};

const newReference = () => `SBX${randomBytes(12).toString('hex')}`;
const newTrackingCode = () => String(randomBytes(6).readUIntBE(0, 6)).padStart(12, '0');
const cardPanMasked = '502229******1234';

export const createSandboxPayments = (sql: Queries) => {
  const isSilent = sql`coalesce(silent_until > now(), false)`;
  const state = sql`case when state = 'open' and acts_at <= now()
    then coalesce(planned_state, state) else state end`;
  const columns = sql`
    reference, payment_id as "paymentId", amount, currency, return_url as "returnUrl",
    ${state} as state, pays_late as "paysLate", refusal,
    tracking_code as "trackingCode", card_pan_masked as "cardPanMasked", ${isSilent} as "isSilent",
    lose_confirmation and confirmations = 1 as "isLost"`;
  return {
    /**
     * Opening a payment twice returns the same reference. A payment with a plan is there already. Of a test payment, the
     * sandbox keeps the sealed data of the payer for its page.
     */
    async open(
      payment: Pick<SandboxPayment, 'paymentId' | 'amount' | 'currency' | 'returnUrl'>,
    ): Promise<{ reference: string; payer: PlannedPayer | null }> {
      const [row] = await sql<{ reference: string; isPlanned: boolean; returnsAt: Date | null }[]>`
        insert into sandbox_payments (reference, payment_id, amount, currency, return_url, state, payer)
        values (${newReference()}, ${payment.paymentId}, ${payment.amount},
          ${payment.currency}, ${payment.returnUrl}, 'open', (
            select sealed from payers join payments p on p.id = payment_id
            where payment_id = ${payment.paymentId} and p.test))
        on conflict (payment_id) do update set return_url = excluded.return_url,
          payer = coalesce(excluded.payer, sandbox_payments.payer)
        returning reference, acts_at is not null as "isPlanned",
          case when returns then acts_at end as "returnsAt"`;
      if (!row) throw new Error('The sandbox gateway returned no reference');
      const { reference, isPlanned, returnsAt } = row;
      return { reference, payer: isPlanned ? { returnsAt } : null };
    },

    get: (reference: string) =>
      first(sql<SandboxPayment[]>`
        select ${columns} from sandbox_payments where reference = ${reference}`),

    getByPayment: (paymentId: string) =>
      first(sql<SandboxPagePayment[]>`
        with found as (select ${columns}, payer from sandbox_payments where payment_id = ${paymentId})
        select found.*, p.description, p.test, p.payer_locale as "payerLocale", ${selectPaidTo(sql)}
        from found
        join payments p on p.id = found."paymentId"
        join applications a on a.slug = p.application`),

    /**
     * Records the payer's choice if the payment is still open.
     * @returns undefined if the gateway does not have the payment
     */
    async choose(
      paymentId: string,
      choice: SandboxChoice,
    ): Promise<{ isFirstChoice: boolean; returnUrl: string } | undefined> {
      const paid = choice.state === 'paid';
      const [row] = await sql<{ isFirstChoice: boolean; returnUrl: string }[]>`
        with chosen as (
          update sandbox_payments set state = ${choice.state}, refusal = ${choice.refusal},
            tracking_code = ${paid ? newTrackingCode() : null},
            card_pan_masked = ${paid ? cardPanMasked : null}
          where payment_id = ${paymentId} and ${state} = 'open'
          returning payment_id)
        select return_url as "returnUrl", exists (select from chosen) as "isFirstChoice"
        from sandbox_payments where payment_id = ${paymentId}`;
      return row;
    },

    /**
     * Confirms a paid payment, as two-step gateways require. If a test asked for a dispute, the service soon looks: later
     * than it records the payment as paid.
     * @returns the payment after that
     */
    verify: (reference: string) =>
      first(sql<SandboxPayment[]>`
        with verified as (
          update sandbox_payments set verifications = verifications + 1,
            confirmations = confirmations
              + case when ${state} in ('paid', 'verified') and not ${isSilent} then 1 else 0 end,
            state = case when ${state} = 'paid' and not ${isSilent} then 'verified' else state end,
            verified_at = case when ${state} = 'paid' and not ${isSilent} then now() else verified_at end
          where reference = ${reference}
          returning ${columns}, dispute
        ), disputed as (
          insert into dispute_looks (payment_id, due_at)
          select "paymentId", now() + interval '5 seconds' from verified where state = 'verified' and dispute is not null
          on conflict (payment_id) do nothing)
        select * from verified`),

    /** The dispute of a verified payment, if a test asked for one. */
    getDispute: (reference: string) =>
      first(sql<SandboxDisputeRow[]>`
        select dispute as "end", verified_at as "openedAt", ends_at as "endsAt", ends_at > now() as "isOpen",
          amount, currency
        from sandbox_payments
        cross join lateral (select verified_at + make_interval(secs => dispute_seconds) as ends_at) as planned
        where reference = ${reference} and ends_at is not null`),

    /** Makes an open payment unpayable. False if the payment is no longer open. */
    expire: (reference: string) =>
      changesOne(sql`
        update sandbox_payments set state = 'expired' where reference = ${reference} and ${state} = 'open'`),
  };
};
export type SandboxPayments = ReturnType<typeof createSandboxPayments>;
