import type { WorkflowStart } from '../contract/payment.ts';
import type { Fragment, Queries } from './driver/sql.ts';
import { workflowStartColumns } from './payments.ts';

/** A payment whose payer was sent to the gateway. */
export interface ClaimedPayment extends WorkflowStart {
  /** The gateway's own name for it. */
  reference: string;
  /** The payer came back, or the last inquiry was in vain: it may be past being "paid, not verified". */
  uncertain: boolean;
}

export interface OverdueDelivery extends WorkflowStart {
  /** Its round has an attempt: whatever runs knows that the payment has ended. */
  begun: boolean;
}

/** Between two inquiries about a payer who was sent there lately. */
const initialInquirySeconds = 2 * 60;
/** The longest between two inquiries about a payer on the way: less than any gateway's own window. */
export const longestInquirySeconds = 8 * 60;
/** After an answer that did not come: longer than a sweep has. */
export const retryInquirySeconds = 28;

/** Of the payer of a payment. */
const wasSentWithin = (sql: Queries, minutes: number, now: Date | Fragment) =>
  sql`checkout_at > ${now}::timestamptz - make_interval(mins => ${minutes})`;

/** For 30 minutes, and 3 more: who pays in the last of them is found as soon as all before. */
const wasSentLately = (sql: Queries, now: Date | Fragment) => wasSentWithin(sql, 33, now);

/**
 * What `inquired_at` becomes where the gateway has given no answer, or not yet. Once the next turn may come
 * only after 8 minutes, money that nobody verifies may have gone back by then: it is set back in time, so
 * that one of the next two sweeps asks, or at the change of pace the turn comes in time.
 */
export const retryInquiryAt = (sql: Queries, now: Date | Fragment) => sql`(
  ${now}::timestamptz - make_interval(secs => case
    when expires_at <= ${now}::timestamptz or ${wasSentWithin(sql, 30, now)} then 0
    when ${wasSentLately(sql, now)} then ${initialInquirySeconds - retryInquirySeconds}::int
    else ${longestInquirySeconds - retryInquirySeconds}::int end))`;

/**
 * Of an open payment `p`: it should have ended 20 minutes ago, and its gateway was not asked since. One
 * that stays silent is asked every hour at least.
 */
export const isStalled = (sql: Queries) => sql`(
  p.expires_at < now() - interval '20 minutes' and (p.inquired_at is null
    or p.inquired_at < greatest(p.expires_at, now() - interval '70 minutes')))`;

/**
 * What the sweep asks the database: payments that something should have happened to. Batches are
 * arrays: what stands in `in (…)` may be run again for every row, and then takes more than its limit.
 */
export const createSweeperQueries = (sql: Queries) => {
  const startFacts = workflowStartColumns(sql);
  return {
    /** Gateways that have payers on their way. */
    async gatewaysInUse(): Promise<string[]> {
      const rows = await sql<{ slug: string }[]>`
        select g.slug from gateways g where exists (
          select from payments p
          where p.gateway = g.slug and p.checkout_at is not null
            and p.status in ('pending', 'processing'))`;
      return rows.map(({ slug }) => slug);
    },

    /**
     * Payments whose payer was sent to the gateway and has not been heard of: every 2 minutes for
     * 33 minutes, then every 8. Marks them as asked in vain, so that the next sweep takes others.
     */
    async claimForInquiry(gateway: string, limit: number): Promise<ClaimedPayment[]> {
      return sql<ClaimedPayment[]>`
        update payments p set inquired_at = ${retryInquiryAt(sql, sql`now()`)} where p.id = any(array(
          select p.id from payments p
          where p.gateway = ${gateway} and p.checkout_at is not null
            and p.status in ('pending', 'processing') and p.expires_at > now()
            and coalesce(p.inquired_at, p.checkout_at) < now() - make_interval(secs => ${initialInquirySeconds})
            and (${wasSentLately(sql, sql`now()`)}
              or coalesce(p.inquired_at, p.checkout_at) < now() - make_interval(secs => ${longestInquirySeconds}))
          order by coalesce(p.inquired_at, p.checkout_at)
          limit ${limit}
          for update skip locked))
        returning ${startFacts}, p.gateway_reference as reference,
          p.status = 'processing' or p.unanswered as uncertain`;
    },

    /** Those about whom the gateway has said that nobody has paid yet. */
    async markInquired(ids: readonly string[]): Promise<void> {
      await sql`update payments set inquired_at = now() where id = any(${[...ids]}::text[])`;
    },

    /** Those who were taken in vain: the next sweep takes them before others. */
    async releaseClaims(ids: readonly string[]): Promise<void> {
      await sql`update payments set inquired_at = null where id = any(${[...ids]}::text[])`;
    },

    /** Of these references, the payments that ended unpaid and whose money nobody has found yet. */
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
     * Payments that should have ended 20 minutes ago though nobody asks a gateway about them; each is
     * given out again after 20 minutes, behind those that were never given out.
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
        returning ${startFacts}`;
    },

    /** Deliveries whose next attempt should have begun 2 minutes ago; counts no further than `limit`. */
    async countOverdueDeliveries(limit: number): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*) from (
          select from deliveries
          where status = 'pending' and next_attempt_at < now() - interval '2 minutes'
          limit ${limit}) as overdue`;
      return row?.count ?? 0;
    },

    /**
     * Deliveries 5 minutes overdue; each is given out again after 5 minutes, behind those that were never
     * given out: most of a backlog only waits for its turn.
     */
    async claimOverdueDeliveries(limit: number): Promise<OverdueDelivery[]> {
      return sql<OverdueDelivery[]>`
        with overdue as (
          update deliveries set healed_at = now() where payment_id = any(array(
            select payment_id from deliveries
            where status = 'pending' and next_attempt_at < now() - interval '5 minutes'
              and (healed_at is null or healed_at < now() - interval '5 minutes')
            order by healed_at nulls first, next_attempt_at
            limit ${limit}
            for update skip locked))
          returning payment_id, round
        )
        select ${startFacts}, exists (
          select from attempts t
          where t.payment_id = overdue.payment_id and t.round = overdue.round
        ) as begun
        from overdue join payments p on p.id = overdue.payment_id`;
    },
  };
};
export type SweeperQueries = ReturnType<typeof createSweeperQueries>;
