import {
  type RefundStart,
  type WorkflowStart,
  workflowStartFields,
} from '../../contract/payment.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import { joinPaymentOfEvent, selectPayment, selectStartOfEvent } from '../payment-columns.ts';

/** A payment whose payer was sent to the gateway, and that the sweeper inquires about now. */
export interface ClaimedPayment extends WorkflowStart {
  /** The gateway's reference for the payment. */
  reference: string;
  /**
   * The payer has returned, or the last inquiry got no answer. The gateway may list such a payment no
   * longer as paid and unverified.
   */
  uncertain: boolean;
}

export interface PostponedDelivery extends WorkflowStart {
  eventId: string;
}

export interface OverdueDelivery extends WorkflowStart {
  /** The round has an attempt, so a running workflow knows that the payment has ended. */
  begun: boolean;
  /** The next attempt was asked for, and the workflow may still wait for the documented delay. */
  atOnce: boolean;
}

/** Between two inquiries about a payer who was sent to the gateway recently. */
const shortInquiryIntervalSeconds = 2 * 60;
/** Between two inquiries after that: shorter than the time in which any gateway reverses unverified money. */
export const longInquiryIntervalSeconds = 8 * 60;
/** After an inquiry without an answer: longer than one sweep takes. */
export const retryIntervalSeconds = 28;

/** The condition that the payer was sent to the gateway within the last minutes. */
const wasSentWithin = (sql: Queries, minutes: number, now: Date | Fragment) =>
  sql`checkout_at > ${now}::timestamptz - make_interval(mins => ${minutes})`;

/** Covers 30 minutes after the checkout, plus one inquiry interval so that a payment in minute 30 is found in time. */
const wasSentRecently = (sql: Queries, now: Date | Fragment) => wasSentWithin(sql, 33, now);

/**
 * The value of `inquired_at` after an inquiry without an answer. Waiting the whole interval could be too
 * long, because a gateway may reverse unverified money before that. From minute 30 on the value is therefore
 * in the past, so that one of the next two sweeps inquires again, also when the interval grows.
 */
export const retryInquiryAt = (
  sql: Queries,
  now: Date | Fragment,
  pauseSeconds = sql`${retryIntervalSeconds}::int`,
) => sql`(
  ${now}::timestamptz - make_interval(secs => greatest(0, case
    when expires_at <= ${now}::timestamptz or ${wasSentWithin(sql, 30, now)} then 0
    when ${wasSentRecently(sql, now)} then ${shortInquiryIntervalSeconds}::int - ${pauseSeconds}
    else ${longInquiryIntervalSeconds}::int - ${pauseSeconds} end)))`;

/**
 * The value of `inquired_at` while a two-step gateway verifies. It may return the money unless it is asked
 * again soon; but if it has verified for long, asking more often does not help. So the pause is a quarter
 * of that time, from one sweep to the usual interval.
 */
export const verifyingInquiryAt = (sql: Queries, now: Date) =>
  retryInquiryAt(
    sql,
    now,
    sql`greatest(${retryIntervalSeconds}::int, coalesce((
      select extract(epoch from ${now}::timestamptz - min(x.at)) / 4 from gateway_exchanges x
      where x.payment_id = payments.id and x.operation = 'verify' and x.result = 'processing'), 0))`,
  );

/**
 * The condition that an open payment `p` is stalled: it should have ended 20 minutes ago, and its gateway
 * was not asked since then. A workflow whose gateway stays silent asks it at least every hour.
 */
export const isStalled = (sql: Queries) => sql`(
  p.expires_at < now() - interval '20 minutes' and (p.inquired_at is null
    or p.inquired_at < greatest(p.expires_at, now() - interval '70 minutes')))`;

/**
 * The sweeper's queries: they find payments and deliveries that did not make progress. Batches are selected
 * into arrays, because Postgres may run a subquery in `in (…)` for every row, which exceeds the limit.
 */
export const createSweeperQueries = (sql: Queries) => {
  const workflowStart = selectPayment(sql, workflowStartFields);
  return {
    /** Gateways that have open payments whose payers were sent there. */
    async listGatewaysInUse(): Promise<string[]> {
      const rows = await sql<{ slug: string }[]>`
        select g.slug from gateways g where exists (
          select from payments p
          where p.gateway = g.slug and p.checkout_at is not null
            and p.status in ('pending', 'processing'))`;
      return rows.map(({ slug }) => slug);
    },

    /**
     * Claims payments whose payer was sent to the gateway, for an inquiry: every 2 minutes for 33 minutes,
     * then every 8. It marks them like an inquiry without an answer, so that the next sweep takes others.
     */
    async claimForInquiry(gateway: string, limit: number): Promise<ClaimedPayment[]> {
      return sql<ClaimedPayment[]>`
        update payments p set inquired_at = ${retryInquiryAt(sql, sql`now()`)} where p.id = any(array(
          select p.id from payments p
          where p.gateway = ${gateway} and p.checkout_at is not null
            and p.status in ('pending', 'processing') and p.expires_at > now()
            and coalesce(p.inquired_at, p.checkout_at) < now() - make_interval(secs => ${shortInquiryIntervalSeconds})
            and (${wasSentRecently(sql, sql`now()`)}
              or coalesce(p.inquired_at, p.checkout_at) < now() - make_interval(secs => ${longInquiryIntervalSeconds}))
          order by coalesce(p.inquired_at, p.checkout_at)
          limit ${limit}
          for update skip locked))
        returning ${workflowStart}, p.gateway_reference as reference,
          p.status = 'processing' or p.uncertain as uncertain`;
    },

    /** Records that the gateway answered: these payments are not paid yet. */
    async markInquired(ids: readonly string[]): Promise<void> {
      await sql`update payments set inquired_at = now() where id = any(${[...ids]}::text[])`;
    },

    /** Releases payments that were claimed without an inquiry: the next sweep takes them first. */
    async unclaim(ids: readonly string[]): Promise<void> {
      await sql`update payments set inquired_at = null where id = any(${[...ids]}::text[])`;
    },

    /** Payments with these references that ended unpaid and have no late payment yet. */
    async listEndedUnpaid(
      gateway: string,
      references: readonly string[],
    ): Promise<{ id: string }[]> {
      return sql<{ id: string }[]>`
        select p.id from payments p
        where p.gateway = ${gateway} and p.gateway_reference = any(${[...references]}::text[])
          and p.status in ('failed', 'cancelled', 'expired')
          and not exists (select from late_payments l where l.payment_id = p.id)`;
    },

    /**
     * Claims stalled payments. A payment can be claimed again after 20 minutes; never-claimed payments come
     * first.
     */
    async claimStalledPayments(limit: number): Promise<WorkflowStart[]> {
      return sql<WorkflowStart[]>`
        update payments p set healed_at = now() where p.id = any(array(
          select p.id from payments p
          where p.status in ('pending', 'processing') and ${isStalled(sql)}
            and (p.healed_at is null or p.healed_at < now() - interval '20 minutes')
          order by p.healed_at nulls first, p.expires_at
          limit ${limit}
          for update skip locked))
        returning ${workflowStart}`;
    },

    /** Applications that have postponed deliveries. */
    async listPostponedApplications(): Promise<string[]> {
      const rows = await sql<{ slug: string }[]>`
        select a.slug from applications a where exists (
          select from deliveries d where d.application = a.slug and d.postponed_at is not null)`;
      return rows.map(({ slug }) => slug);
    },

    /** Postponed deliveries of the application; the one that has waited longest is first. */
    async listPostponed(application: string, limit: number): Promise<PostponedDelivery[]> {
      return sql<PostponedDelivery[]>`
        select d.event_id as "eventId", ${selectStartOfEvent(sql)}
        from deliveries d join events e on e.id = d.event_id ${joinPaymentOfEvent(sql)}
        where d.application = ${application} and d.postponed_at is not null
        order by d.postponed_at limit ${limit}`;
    },

    /** Counts those of the deliveries that are still postponed. */
    async countPostponed(eventIds: readonly string[]): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*) from deliveries
        where event_id = any(${[...eventIds]}::text[]::uuid[]) and postponed_at is not null`;
      return row?.count ?? 0;
    },

    /**
     * Counts deliveries whose next attempt is 2 minutes overdue, up to `limit`. Without postponed ones, whose
     * receiver is the cause, and without those of tests: an application could page operators with them.
     */
    async countOverdueDeliveries(limit: number): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*) from (
          select from deliveries
          where status = 'pending' and postponed_at is null and not test
            and next_attempt_at < now() - interval '2 minutes'
          limit ${limit}) as overdue`;
      return row?.count ?? 0;
    },

    /**
     * Claims deliveries that are 5 minutes overdue and not postponed. A delivery can be claimed again after 5 minutes;
     * never-claimed ones come first, because most of a backlog only waits for a free slot.
     */
    async claimOverdueDeliveries(limit: number): Promise<OverdueDelivery[]> {
      return sql<OverdueDelivery[]>`
        with overdue as (
          update deliveries set healed_at = now() where event_id = any(array(
            select event_id from deliveries
            where status = 'pending' and postponed_at is null
              and next_attempt_at < now() - interval '5 minutes'
              and (healed_at is null or healed_at < now() - interval '5 minutes')
            order by healed_at nulls first, next_attempt_at
            limit ${limit}
            for update skip locked))
          returning event_id, round, at_once
        )
        select ${selectStartOfEvent(sql)}, exists (
          select from attempts t
          where t.event_id = overdue.event_id and t.round = overdue.round
        ) as begun, overdue.at_once as "atOnce"
        from overdue join events e on e.id = overdue.event_id ${joinPaymentOfEvent(sql)}`;
    },

    /**
     * Claims refunds that are 10 seconds overdue. A refund can be claimed again after 5 minutes; never-claimed ones come
     * first.
     */
    async claimOverdueRefunds(limit: number): Promise<RefundStart[]> {
      return sql<RefundStart[]>`
        update refunds r set healed_at = now() where r.id = any(array(
          select r.id from refunds r
          where r.due_at < now() - interval '10 seconds'
            and (r.healed_at is null or r.healed_at < now() - interval '5 minutes')
          order by r.healed_at nulls first, r.due_at
          limit ${limit}
          for update skip locked))
        returning r.id as "refundId", r.payment_id as id, r.application, r.order_id as "orderId",
          r.amount as "refundAmount", r.currency`;
    },
  };
};
export type SweeperQueries = ReturnType<typeof createSweeperQueries>;
