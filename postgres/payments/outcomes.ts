import type { Event } from '../../contract/event.ts';
import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import type { RecordedAccount } from '../../contract/gateway-account.ts';
import { eventId } from '../../contract/ids.ts';
import type { Payment, Redirect, WorkflowStart } from '../../contract/payment.ts';
import type { DeliveryStatus, WaitingAnswer } from '../../contract/status.ts';
import type { ReportedFee } from '../../contract/reported-fee.ts';
import { createAuditLog } from '../audit-log.ts';
import { changesOne, first, type Queries } from '../driver/sql.ts';
import { eventInserts } from '../event-inserts.ts';
import { exchangeInserts } from '../gateways/exchanges.ts';
import { accountColumns, type RankedAccount, silenceColumn } from '../gateways/gateways.ts';
import {
  claimedAt,
  claiming,
  hasMoneyOfAnother,
  isPaidByAnother,
  markPaidTwice,
  mayHoldOrder,
  selectOpenOfOrder,
  selectPaidOfOrder,
  takeOver,
  takesPart,
} from '../orders.ts';
import { erasePayer, eraseSandboxPayer } from './payers.ts';
import { selectPayment } from '../payment-columns.ts';
import { retryInquiryAt, verifyingInquiryAt } from './sweeper.ts';

/** A payment with its gateway's account and its progress. */
export interface PaymentWithAccount extends Payment, RecordedAccount {
  /** Until its deadline, by the clock of Postgres: that of a worker may be wrong, and a payment that is not opened stays so. */
  timeLeftMs: number;
  /** The gateway's reference for the payment; null until the payment is opened there. */
  reference: string | null;
  /** What the payer's last return brought for the next call to the gateway. */
  returnProof: string | null;
  /** The payer was sent to the gateway. */
  payerSent: boolean;
  /** When the payer of a sandbox plan comes back. */
  payerReturnsAt: Date | null;
  /** The gateways that may open it, in the order of asking; null: only its own. */
  candidates: string[] | null;
  isSilent: RankedAccount['isSilent'];
  /** Null until the payment has ended. */
  delivery: DeliveryStatus | null;
  /** The round of the delivery. */
  round: number | null;
  /** What chargebacks have taken for good. */
  amountLost: number;
  /** At most one payment of its order may be paid. */
  isPaidOnce: boolean;
  /** Another payment has paid its order; false where that is allowed. */
  orderIsPaid: boolean;
  /** The name of the application for payers; null: it has only its slug. */
  displayName: string | null;
  /** The sealed data of the payer, until the payment is opened. */
  payer: string | null;
  payerLocale: string | null;
}

/** The gateway's own code and message, for admins only. */
export interface ProviderMessage {
  code: string | null;
  message: string | null;
}

export interface Duplicates {
  /** Another payment that paid the same order. */
  duplicateOf: string | null;
  /** Another payment of the gateway with the same tracking code. */
  trackingCodeOf: string | null;
}

/** The payments beside one that is paid now. `open`: those of its order that have not ended. */
interface Others extends Duplicates {
  open: WorkflowStart[];
}

/** The gateway exchanges that led to a change; they are stored in the same statement. */
interface WithExchanges {
  exchanges: readonly GatewayExchange[];
}

interface Opening extends WithExchanges {
  /** The candidate that has opened it; null: there is only one. */
  gateway?: string | null;
  reference: string;
  redirect: Redirect;
  payer?: { returnsAt: Date | null } | null;
  fee?: ReportedFee | undefined;
}

interface End extends WithExchanges {
  providerMessage: ProviderMessage;
  /** Replaces that of the opening, unless it is null. */
  reportedFee?: ReportedFee | null;
  /** Ends the payment only if no payer was sent to the gateway. */
  onlyIfUnsent: boolean;
}

/** Whether a payment was ended, and why not. The order is held if another payment holds it, also by having paid it. */
export type Finalized = 'done' | 'ended_before' | 'payer_sent' | 'order_held' | 'order_not_paid';

/** With the kind of its gateway, for the metrics. */
export type EndedPayment = Payment & Partial<Pick<RecordedAccount, 'gatewayKind'>>;

const feeColumns = (sql: Queries, fee: ReportedFee | null) =>
  fee === null ? sql`` : sql`reported_fee = ${fee.amount}, reported_fee_paid_by = ${fee.paidBy},`;

/** The changes of a payment's state. Only the workflow's activities write them. */
export const createPaymentOutcomes = (sql: Queries) => ({
  get: (id: string) =>
    first(sql<PaymentWithAccount[]>`
      select ${selectPayment(sql)}, ${accountColumns(sql)},
        extract(epoch from p.expires_at - now())::float8 * 1000 as "timeLeftMs",
        p.gateway_reference as reference, p.return_proof as "returnProof", p.checkout_at is not null as "payerSent",
        p.payer_returns_at as "payerReturnsAt", p.candidates, p.amount_lost as "amountLost", ${silenceColumn(sql)}, d.status as delivery, d.round,
        ${takesPart(sql)} as "isPaidOnce", a.display_name as "displayName", p.payer_locale as "payerLocale",
        case when ${takesPart(sql)} then ${isPaidByAnother(sql)} else false end as "orderIsPaid",
        (select sealed from payers where payment_id = p.id) as payer
      from payments p join gateways g on g.slug = p.gateway
      join applications a on a.slug = p.application
      left join deliveries d on d.event_id = ${eventId(id)}
      where p.id = ${id}`),

  /** The key of the address for reports: the first that was ever made. @param made a new one, if the payment has none */
  async reportKey(id: string, made: string): Promise<string | undefined> {
    const [row] = await sql<{ key: string }[]>`
      update payments set report_key = coalesce(report_key, ${made}) where id = ${id}
      returning report_key as key`;
    return row?.key;
  },

  /**
   * Records that the payment was opened at its gateway, and erases what it knew of the payer. The payer of a plan is there at once.
   * @returns false if it has ended or is open already
   */
  recordOpened: (
    id: string,
    { gateway = null, reference, redirect, payer = null, fee, exchanges }: Opening,
  ) =>
    changesOne(sql`
      with ${exchangeInserts(sql, id, exchanges)}, erased as (${erasePayer(sql, sql`${id}`)})
      update payments set ${gateway === null ? sql`` : sql`gateway = ${gateway},`} gateway_reference = ${reference},
        gateway_redirect = ${sql.json({ ...redirect })}, ${feeColumns(sql, fee ?? null)}
        checkout_at = case when ${payer !== null} then now() else checkout_at end,
        payer_returns_at = ${payer?.returnsAt ?? null}
      where id = ${id} and status = 'pending' and gateway_reference is null`),

  /**
   * Records an inquiry that brought no outcome.
   * @param inquiry.isTwoStep the gateway returns money that it was not asked to verify
   * @param inquiry.becomesProcessing moves a pending payment to that status
   * @returns false if the payment has ended
   */
  async recordInquiry(
    id: string,
    {
      answer,
      isTwoStep,
      becomesProcessing,
      now,
      exchanges,
    }: {
      answer: WaitingAnswer;
      isTwoStep: boolean;
      becomesProcessing: boolean;
      now: Date;
    } & WithExchanges,
  ): Promise<boolean> {
    const isVerifying = answer === 'processing' && isTwoStep;
    const inquiredAt =
      answer === 'unknown'
        ? retryInquiryAt(sql, now)
        : isVerifying
          ? verifyingInquiryAt(sql, now)
          : sql`${now}::timestamptz`;
    const { count } = await sql`
      with ${exchangeInserts(sql, id, exchanges)}
      update payments set inquired_at = ${inquiredAt}, uncertain = ${answer === 'unknown' || isVerifying},
        status = case when ${becomesProcessing} then 'processing' else status end,
        updated_at = case when ${becomesProcessing} and status = 'pending' then ${now} else updated_at end
      where id = ${id} and status in ('pending', 'processing')`;
    return count === 1;
  },

  /**
   * Finds another paid payment of the order and one with the same tracking code, both through live accounts,
   * and writes the first of each paid payment and of each code to the audit log. Admins see the order. This is a separate
   * statement after `finalize`: inside it, two payments that end at the same moment would not see each other.
   * @returns with the open payments of the order, if at most one of them may be paid
   */
  async flagDuplicates(paid: Payment & Pick<PaymentWithAccount, 'isPaidOnce'>): Promise<Others> {
    const rows = await sql<(Duplicates & (WorkflowStart | { id: null }))[]>`
      with marked as (${markPaidTwice(sql, paid.id)})
      select found.*, open.* from (
        select (${selectPaidOfOrder(sql, paid)}) as "duplicateOf", (
          select q.id from payments q
          where q.gateway = ${paid.gateway} and q.tracking_code = ${paid.trackingCode}
            and q.id <> ${paid.id}
          limit 1) as "trackingCodeOf"
      ) found left join lateral (${selectOpenOfOrder(sql, paid)}) open on ${paid.isPaidOnce}::boolean`;
    const { duplicateOf = null, trackingCodeOf = null } = rows[0] ?? {};
    const open = rows.filter((row) => row.id !== null);
    const auditLog = createAuditLog(sql);
    const { id, application, test, orderId: order_id, gateway, trackingCode } = paid;
    if (duplicateOf !== null)
      await auditLog.insertDuplicate('payment.duplicate', id, {
        application,
        test,
        order_id,
        duplicate_of: duplicateOf,
      });
    if (trackingCodeOf !== null)
      await auditLog.insertDuplicate('payment.duplicate_tracking_code', id, {
        gateway,
        tracking_code: trackingCode,
        also_of: trackingCodeOf,
      });
    return { duplicateOf, trackingCodeOf, open };
  },

  /**
   * Ends a payment: writes the outcome, the event with its final body and the delivery in one statement, and erases the data
   * of its payer. Where fake money has paid the order, too, admins see it.
   * @param ended the payment with its outcome
   * @returns why not, unless it is done; then nothing but the exchanges is written
   */
  async finalize(
    ended: EndedPayment,
    event: Event,
    { providerMessage, reportedFee = null, onlyIfUnsent, exchanges }: End,
  ): Promise<Finalized> {
    const isPaid = ended.status === 'paid';
    const isLost = ended.failureCode === 'order_already_paid';
    const end = (stored: readonly GatewayExchange[]) => sql`
      with of_payment as (
        update payments p set status = ${ended.status}, tracking_code = ${ended.trackingCode},
          card_pan_masked = ${ended.cardPanMasked}, paid_at = ${ended.paidAt},
          failure_code = ${ended.failureCode}, cancelled_by = ${ended.cancelledBy},
          cancellation_reason = case when ${ended.cancelledBy}::text = 'application' then p.cancel_request_reason end,
          updated_at = ${event.createdAt}, ${feeColumns(sql, reportedFee)}
          gateway_code = ${providerMessage.code}, gateway_message = ${providerMessage.message},
          order_claimed_at = ${isPaid ? claimedAt(sql) : null}
          ${isPaid ? sql`, paid_twice_at = case when g.kind = 'sandbox' and ${hasMoneyOfAnother(sql)} then now() end` : sql``}
        from applications a, gateways g
        where p.id = ${ended.id} and p.status in ('pending', 'processing')
          and (not ${onlyIfUnsent} or p.checkout_at is null) and a.slug = p.application and g.slug = p.gateway
          ${isPaid ? sql`and ${mayHoldOrder(sql)}` : sql``} ${isLost ? sql`and ${isPaidByAnother(sql)}` : sql``}
        returning p.id, p.application, p.test, p.order_id
      ), erased as (${erasePayer(sql, sql`(select id from of_payment)`)}),
        ${ended.test ? sql`erased_at_sandbox as (${eraseSandboxPayer(sql, sql`(select id from of_payment)`)}),` : sql``}
        ${eventInserts(sql, event, ended.id)}, ${exchangeInserts(sql, ended.id, stored)}
      select from of_payment`;
    const endOnce = (stored: readonly GatewayExchange[]) => claiming(() => changesOne(end(stored)));
    if (await endOnce(exchanges)) return 'done';
    // The gateway has taken the money without asking for the order, and who holds that may never end.
    if (isPaid && (await takeOver(sql, ended.id)) && (await endOnce([]))) return 'done';
    const [stored] = await sql<{ isOpen: boolean; payerSent: boolean }[]>`
      select status in ('pending', 'processing') as "isOpen", checkout_at is not null as "payerSent"
      from payments where id = ${ended.id}`;
    if (!stored?.isOpen) return 'ended_before';
    if (onlyIfUnsent && stored.payerSent) return 'payer_sent';
    return isLost ? 'order_not_paid' : 'order_held';
  },
});
export type PaymentOutcomes = ReturnType<typeof createPaymentOutcomes>;
