import type { Event } from '../../contract/event.ts';
import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import { refundId, refundIdPattern } from '../../contract/ids.ts';
import type { Payment } from '../../contract/payment.ts';
import { createRefundEvent, type RefundEventKind } from '../../contract/refund-event.ts';
import type { RefundFailureCode } from '../../contract/refund-failure-codes.ts';
import type { Refund, RefundStage } from '../../contract/refund.ts';
import { createAuditLog } from '../audit-log.ts';
import { changesOne, first, type Queries, type Sql } from '../driver/sql.ts';
import { eventInserts } from '../event-inserts.ts';
import { exchangeInserts } from '../gateways/exchanges.ts';
import { claimKept, hasMoneyOfAnother } from '../orders.ts';
import { selectPayment } from '../payment-columns.ts';
import type { ProviderMessage } from '../payments/outcomes.ts';
import { selectRefund } from './refunds.ts';

/** A refund with what its workflow needs to know. */
export interface RefundProgress extends Refund {
  /** How often the gateway was told, and when first. */
  timesTold: number;
  toldAt: Date | null;
  cancelRequested: boolean;
  /** An admin's decision. */
  settledAs: 'succeeded' | 'failed' | null;
  gatewayReference: string | null;
  /** Another admin must confirm it: until then the gateway is not told. */
  toConfirm: boolean;
  /** A chargeback holds money that this refund would give back. */
  isDisputed: boolean;
  /** Its application is disabled: until an admin enables or releases it, the gateway is not told. */
  waitsForApplication: boolean;
}

/** A refund that is ours, or that was found at the gateway. */
export type RecordedRefund = Pick<
  RefundProgress,
  'id' | 'gatewayReference' | 'amount' | 'timesTold'
>;

/** An event of a refund that its application has not accepted. */
interface RefundEvent {
  id: string;
  /** False: its last round has failed. */
  isPending: boolean;
}

interface RefundStanding {
  /** Undefined: Postgres does not have the refund. */
  status: Refund['status'] | undefined;
  stage: RefundStage | null;
  events: RefundEvent[];
}

/** The answer of the gateway about a refund. */
export interface RefundFacts {
  gatewayReference: string | null;
  bankReference: string | null;
  expectedAt: Date | null;
}

/** The end of a refund. */
export interface RefundEnd extends Pick<RefundFacts, 'gatewayReference' | 'bankReference'> {
  status: 'succeeded' | 'failed';
  failureCode: RefundFailureCode | null;
  /** For admins only. */
  providerMessage: ProviderMessage;
  /** The end counts only if the gateway was told so often, no more. */
  timesTold?: number;
}

/** A refund that somebody made at the gateway. */
export interface RefundMadeAtGateway extends Pick<RefundFacts, 'bankReference'> {
  /** Our id, if the gateway has one: Postgres was restored from a backup without the refund. */
  id: string | null;
  gatewayReference: string;
  amount: number;
}

type PaymentRow = Payment & { refundEvents: boolean };

/**
 * The condition for refunds `r` of an application that an admin has disabled. Its tokens may be in wrong hands. What an
 * admin has asked for goes on.
 */
export const waitsForApplication = (sql: Queries) => sql`(
  r.status = 'pending' and r.stage in ('reserved', 'sent', 'waiting_for_balance')
  and r.requested_by = 'application' and not r.released
  and exists (select from applications a where a.slug = r.application and a.status = 'disabled'))`;

/** The condition for refunds `r` whose payment's chargeback and refunds together exceed what was paid. */
const isDisputed = (sql: Queries) => sql`exists (
  select from payments p
  where p.id = r.payment_id and p.amount_disputed > 0
    and p.amount_refunded + p.amount_refund_pending + p.amount_disputed > p.amount)`;

const progressColumns = (sql: Queries) => sql`
  ${selectRefund(sql)}, r.times_told as "timesTold", r.told_at as "toldAt", r.cancel_requested as "cancelRequested",
  r.settled_as as "settledAs", r.gateway_reference as "gatewayReference", r.to_confirm as "toConfirm",
  ${waitsForApplication(sql)} as "waitsForApplication", r.status = 'pending' and ${isDisputed(sql)} as "isDisputed"`;

/** Locks the payment. Everything that changes its sums does so first, so that no two wait for each other. */
const lockPayment = async (tx: Queries, paymentId: string): Promise<PaymentRow> => {
  const [payment] = await tx<PaymentRow[]>`
    select ${selectPayment(tx)}, a.refund_events as "refundEvents"
    from payments p join applications a on a.slug = p.application
    where p.id = ${paymentId} for update of p`;
  if (!payment) throw new Error(`There is no payment ${paymentId}`);
  return payment;
};

const writeSums = (
  tx: Queries,
  paymentId: string,
  { amountRefunded, amountRefundPending }: PaymentRow,
) => tx`
  update payments p set amount_refunded = ${amountRefunded}, amount_refund_pending = ${amountRefundPending},
    -- A refund that the bank sends back claims nothing. Another payment may have paid the order since.
    order_claimed_at = ${claimKept(tx, { refunded: tx`${amountRefunded}::bigint` })},
    paid_twice_at = case when ${amountRefunded}::bigint < p.amount_refunded and ${hasMoneyOfAnother(tx)} then now()
      else p.paid_twice_at end
  where id = ${paymentId}`;

const writeEvent = async (tx: Queries, refund: Refund, event: Event): Promise<void> => {
  await tx`
    with of_payment as (
      select id, application, test, order_id from payments where id = ${refund.paymentId}
    ), ${eventInserts(tx, event, refund.id)} select`;
};

/** Where the refund is, with its events that are to be delivered, or whose last round has failed. */
const readStanding = async (
  sql: Sql,
  { id, paymentId }: Pick<Refund, 'id' | 'paymentId'>,
): Promise<RefundStanding> => {
  const rows = await sql<(Pick<Refund, 'status' | 'stage'> & (RefundEvent | { id: null }))[]>`
    select r.status, r.stage, e.id, e."isPending" from refunds r left join lateral (
      select e.id, d.status = 'pending' as "isPending", d.recorded_at
      from events e join deliveries d on d.event_id = e.id
      where e.payment_id = ${paymentId} and e.subject = r.id and d.status in ('pending', 'exhausted')) e on true
    where r.id = ${id} and r.payment_id = ${paymentId}
    order by e.recorded_at`;
  const [{ status, stage } = { status: undefined, stage: null }] = rows;
  return { status, stage, events: rows.filter((row) => row.id !== null) };
};

/** The changes of a refund's state. Only its workflow's activities write them. */
export const createRefundOutcomes = (sql: Sql) => ({
  get: (id: string) =>
    first(sql<RefundProgress[]>`
      select ${progressColumns(sql)} from refunds r where r.id = ${id}`),

  /** Every refund of the payment that Postgres has. */
  async listRecorded(paymentId: string): Promise<RecordedRefund[]> {
    return sql<RecordedRefund[]>`
      select id, gateway_reference as "gatewayReference", amount, times_told as "timesTold"
      from refunds where payment_id = ${paymentId}`;
  },

  getStanding: (refund: Pick<Refund, 'id' | 'paymentId'>) => readStanding(sql, refund),

  /**
   * Records that the gateway is told now, before it is.
   * @param timesTold how often the caller saw that it was told
   * @returns false if it must not be told: it was, it was called off, it has ended, or it waits for a person
   */
  markTold: (id: string, { timesTold, now }: { timesTold: number; now: Date }) =>
    changesOne(sql`
      update refunds r set times_told = times_told + 1, told_at = coalesce(told_at, ${now}), stage = 'sent',
        updated_at = ${now}
      where id = ${id} and status = 'pending' and stage <> 'by_hand' and times_told = ${timesTold}
        and not cancel_requested and not to_confirm and not ${waitsForApplication(sql)} and not ${isDisputed(sql)}`),

  /** Records where a pending refund is, and when its workflow is due. Null: it waits for an admin. */
  async recordProgress(
    refund: Pick<Refund, 'id' | 'paymentId'>,
    {
      stage,
      facts,
      dueAt,
      now,
      exchanges,
    }: {
      stage: RefundStage | undefined;
      facts: RefundFacts | undefined;
      dueAt: Date | null;
      now: Date;
      exchanges: readonly GatewayExchange[];
    },
  ): Promise<void> {
    const { gatewayReference = null, bankReference = null, expectedAt = null } = facts ?? {};
    // A person decides, whatever a try that Temporal has given up still finds.
    const isByHand = sql`stage = 'by_hand'`;
    await sql`
      with ${exchangeInserts(sql, refund.paymentId, exchanges, refund.id)}
      update refunds set stage = case when ${isByHand} then stage else coalesce(${stage ?? null}, stage) end,
        due_at = case when ${isByHand} then due_at else ${dueAt}::timestamptz end,
        updated_at = case when ${isByHand} or ${stage ?? null}::text is null or stage = ${stage ?? null} then updated_at
          else ${now} end,
        gateway_reference = coalesce(${gatewayReference}, gateway_reference),
        bank_reference = coalesce(${bankReference}, bank_reference),
        expected_at = coalesce(${expectedAt}::timestamptz, expected_at)
      where id = ${refund.id} and status = 'pending'`;
  },

  /** Writes the event of a refund that an admin asked for, once. */
  async announce({ id, paymentId }: Pick<Refund, 'id' | 'paymentId'>, now: Date): Promise<void> {
    await sql.begin(async (tx) => {
      const payment = await lockPayment(tx, paymentId);
      if (!payment.refundEvents) return;
      const [refund] = await tx<Refund[]>`
        select ${selectRefund(tx)} from refunds r
        where r.id = ${id} and not exists (select from events e where e.payment_id = ${paymentId} and e.subject = r.id)`;
      if (!refund) return;
      const event = createRefundEvent('refund.created', { refund, payment, createdAt: now });
      await writeEvent(tx, refund, event);
    });
  },

  /**
   * Ends the refund: status, the payment's sums and the event in one transaction. A refund that succeeded can still
   * fail: the bank sent the money back.
   * @returns false if the refund has this end already, or a retry has told the gateway since; then nothing is written
   */
  async finishRefund(
    { id, paymentId }: Pick<Refund, 'id' | 'paymentId'>,
    end: RefundEnd,
    { now, exchanges }: { now: Date; exchanges: readonly GatewayExchange[] },
  ): Promise<boolean> {
    return sql.begin(async (tx) =>
      finishLockedRefund(tx, await lockPayment(tx, paymentId), { id, end, now, exchanges }),
    );
  },

  /**
   * Records a refund that somebody made at the gateway, even where the sum exceeds the payment. A refund of ours that
   * the gateway was not told and that does not fit any more fails in the same transaction.
   * @param waiting that refund; undefined: there is none
   * @returns undefined if it is recorded already
   */
  async recordMadeAtGateway(
    paymentId: string,
    found: RefundMadeAtGateway,
    { waiting, now }: { waiting: string | undefined; now: Date },
  ): Promise<{ id: string; isMoreThanPaid: boolean } | undefined> {
    return sql.begin(async (tx) => {
      const payment = await lockPayment(tx, paymentId);
      const { gateway } = payment;
      // The gateway carries what somebody wrote there: it may be the id of another payment's refund.
      const [other] = await tx`
        select from refunds where id = ${found.id} and payment_id <> ${paymentId}`;
      const isOurs = found.id !== null && refundIdPattern.test(found.id) && !other;
      const id = isOurs && found.id ? found.id : refundId([gateway, found.gatewayReference]);
      const [refund] = await tx<Refund[]>`
        with r as (
          insert into refunds (id, payment_id, application, test, order_id, status, amount, currency, method,
            requested_by, metadata, gateway_reference, bank_reference, succeeded_at, created_at, updated_at)
          values (${id}, ${paymentId}, ${payment.application}, ${payment.test}, ${payment.orderId}, 'succeeded',
            ${found.amount}, ${payment.currency}, 'refund', 'gateway', '{}', ${found.gatewayReference},
            ${found.bankReference}, ${now}, ${now}, ${now})
          on conflict (id) do nothing returning *)
        select ${selectRefund(tx)} from r`;
      if (!refund) return undefined;
      const sums = { ...payment, amountRefunded: payment.amountRefunded + found.amount };
      await writeSums(tx, paymentId, sums);
      if (payment.refundEvents)
        for (const kind of ['refund.created', 'refund.succeeded'] as const)
          await writeEvent(
            tx,
            refund,
            createRefundEvent(kind, { refund, payment: sums, createdAt: now }),
          );
      const waitingFits = sums.amountRefunded + sums.amountRefundPending <= sums.amount;
      const doesNotFit = {
        status: 'failed',
        failureCode: 'not_refundable',
        providerMessage: { code: null, message: null },
        gatewayReference: null,
        bankReference: null,
        timesTold: 0,
      } as const;
      if (waiting && !waitingFits)
        await finishLockedRefund(tx, sums, { id: waiting, end: doesNotFit, now, exchanges: [] });
      await createAuditLog(tx).insert({
        actor: 'service',
        action: 'refund.found_at_gateway',
        subject: `refund:${id}`,
        before: null,
        after: { payment: paymentId, gateway, amount: found.amount, currency: payment.currency },
        reason: null,
        via: null,
      });
      return { id, isMoreThanPaid: sums.amountRefunded > sums.amount };
    });
  },
});
export type RefundOutcomes = ReturnType<typeof createRefundOutcomes>;

/** The payment is locked. */
const finishLockedRefund = async (
  tx: Queries,
  payment: PaymentRow,
  {
    id,
    end: { status, failureCode, providerMessage, gatewayReference, bankReference, timesTold },
    now,
    exchanges,
  }: { id: string; end: RefundEnd; now: Date; exchanges: readonly GatewayExchange[] },
): Promise<boolean> => {
  const succeeded = status === 'succeeded';
  const [refund] = await tx<(Refund & { was: Refund['status'] })[]>`
    with was as (select id, status, times_told from refunds where id = ${id} for update), r as (
      update refunds r set status = ${status}, stage = null, due_at = null, failure_code = ${failureCode},
        gateway_reference = coalesce(${gatewayReference}, r.gateway_reference),
        bank_reference = coalesce(${bankReference}, r.bank_reference),
        gateway_code = ${providerMessage.code}, gateway_message = ${providerMessage.message},
        succeeded_at = case when ${succeeded} then ${now} else r.succeeded_at end,
        failed_at = case when ${succeeded} then r.failed_at else ${now}::timestamptz end, updated_at = ${now}
      from was
      where r.id = was.id
        and (was.status = 'pending' or (was.status = 'succeeded' and not ${succeeded}))
        ${timesTold === undefined ? tx`` : tx`and was.times_told = ${timesTold}`}
      returning r.*, was.status as was)
    select ${selectRefund(tx)}, was from r`;
  if (!refund) return false;
  const wasPending = refund.was === 'pending';
  const gone = refund.amount * ((succeeded ? 1 : 0) - (wasPending ? 0 : 1));
  const sums = {
    ...payment,
    amountRefunded: payment.amountRefunded + gone,
    amountRefundPending: payment.amountRefundPending - (wasPending ? refund.amount : 0),
  };
  await writeSums(tx, refund.paymentId, sums);
  const kind: RefundEventKind = `refund.${status}`;
  if (payment.refundEvents)
    await writeEvent(
      tx,
      refund,
      createRefundEvent(kind, { refund, payment: sums, createdAt: now }),
    );
  await tx`with ${exchangeInserts(tx, refund.paymentId, exchanges, refund.id)} select`;
  return true;
};
