import { linkEventId } from '../../contract/ids.ts';
import { type WorkflowStart, workflowStartFields } from '../../contract/payment.ts';
import type { Status } from '../../contract/status.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import { selectPayment, joinPaymentOfEvent, selectStartOfEvent } from '../payment-columns.ts';
import { isStalled } from '../payments/sweeper.ts';

/** A payment that must have a running workflow. */
export interface PaymentInProgress extends WorkflowStart {
  status: Status;
  /** The deadline of an open payment, the next attempt of a delivery, or when a late payment was found. */
  dueAt: Date;
  /**
   * The delivery is more than 2 minutes late; or the payment should have ended 20 minutes ago, and no
   * inquiry to its gateway is running.
   */
  overdue: boolean;
  /** The next page starts after this position. */
  position: string;
}

export interface Page {
  after: Pick<PaymentInProgress, 'position' | 'id'> | undefined;
  limit: number;
}

/** Some payments, in the order of their ids, that were examined. */
export interface Examined {
  /** Those with a difference within Postgres. */
  different: { id: string; application: string; orderId: string; status: Status }[];
  examined: number;
  /** The id of the last one. */
  last: string | null;
}

/**
 * The records that are compared with Temporal, in pages along an index. Positions are texts, because a
 * Date loses the microseconds of a time, and with them its place in the index.
 */
export const createReconciliationQueries = (sql: Queries) => {
  const workflowStart = selectPayment(sql, workflowStartFields);
  const from = (column: Fragment, { after }: Page, id = sql`p.id`) =>
    after
      ? sql`and (${column}, ${id}) > (${after.position}::text::timestamptz, ${after.id})`
      : sql``;
  return {
    /** Open payments older than a minute. The workflow of a younger one may be starting. */
    async listOpen(page: Page): Promise<PaymentInProgress[]> {
      return sql<PaymentInProgress[]>`
        select ${workflowStart}, p.status, p.expires_at as "dueAt",
          ${isStalled(sql)} as overdue, p.expires_at::text as position
        from payments p
        where p.status in ('pending', 'processing') and p.created_at < now() - interval '1 minute'
          ${from(sql`p.expires_at`, page)}
        order by p.expires_at, p.id limit ${page.limit}`;
    },

    /** Ended payments with a pending delivery. */
    async listUndelivered(page: Page): Promise<PaymentInProgress[]> {
      return sql<PaymentInProgress[]>`
        select ${selectStartOfEvent(sql)}, coalesce(p.status, 'expired') as status, d.next_attempt_at as "dueAt",
          d.next_attempt_at < now() - interval '2 minutes' as overdue,
          d.next_attempt_at::text as position
        from deliveries d join events e on e.id = d.event_id ${joinPaymentOfEvent(sql)}
        where d.status = 'pending' ${from(sql`d.next_attempt_at`, page, sql`coalesce(p.id, e.subject)`)}
        order by d.next_attempt_at, coalesce(p.id, e.subject) limit ${page.limit}`;
    },

    /** Payments with a refund that its workflow works on. The workflow of a younger one may be starting. */
    async listRefunds(page: Page): Promise<PaymentInProgress[]> {
      return sql<PaymentInProgress[]>`
        select ${workflowStart}, r.id as "refundId", r.amount as "refundAmount", p.status, r.due_at as "dueAt", false as overdue,
          r.due_at::text as position
        from refunds r join payments p on p.id = r.payment_id
        where r.due_at is not null and r.created_at < now() - interval '1 minute' ${from(sql`r.due_at`, page)}
        order by r.due_at, p.id limit ${page.limit}`;
    },

    /** Returns those of the payments that still have such a refund. */
    async filterRefunding(ids: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select payment_id as id from refunds
        where payment_id = any(${[...ids]}::text[]) and due_at is not null`;
      return new Set(rows.map(({ id }) => id));
    },

    /** Examines the payments with refunds after an id. @returns those with other sums than their refunds */
    async listWrongTotals(after: string | null, limit: number): Promise<Examined> {
      const [row] = await sql<Examined[]>`
        with page as (
          select distinct payment_id as id from refunds
          where ${after}::text is null or payment_id > ${after}
          order by payment_id limit ${limit}
        ), sums as (
          select p.id, p.application, p.order_id, p.status, p.amount_refunded, p.amount_refund_pending,
            coalesce(sum(r.amount) filter (where r.status = 'succeeded'), 0) as refunded,
            coalesce(sum(r.amount) filter (where r.status = 'pending'), 0) as pending
          from page join payments p on p.id = page.id join refunds r on r.payment_id = p.id group by p.id
        )
        select count(*) as examined, max(id) as last,
          coalesce(json_agg(json_build_object('id', id, 'application', application, 'orderId', order_id,
            'status', status)) filter (
              where (amount_refunded, amount_refund_pending) is distinct from (refunded, pending)
            ), '[]') as different
        from sums`;
      return row ?? { different: [], examined: 0, last: null };
    },

    /** Payments with a late payment that is not resolved. These are few. */
    async listLate(page: Page): Promise<PaymentInProgress[]> {
      return sql<PaymentInProgress[]>`
        select ${workflowStart}, p.status, l.found_at as "dueAt", false as overdue,
          l.found_at::text as position
        from late_payments l join payments p on p.id = l.payment_id
        where l.result is null ${from(sql`l.found_at`, page)}
        order by l.found_at, p.id limit ${page.limit}`;
    },

    /** Returns those of the payments and links that are still open or have a pending delivery. */
    async filterInProgress(ids: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select p.id from payments p
        left join events e on e.payment_id = p.id
        left join deliveries d on d.event_id = e.id
        where p.id = any(${[...ids]}::text[])
          and (p.status in ('pending', 'processing') or d.status = 'pending')
        union all
        select e.subject from events e join deliveries d on d.event_id = e.id
        where e.id = any(${ids.map(linkEventId)}::text[]::uuid[]) and d.status = 'pending'`;
      return new Set(rows.map(({ id }) => id));
    },

    /** Returns those of the payments that still have an unresolved late payment. */
    async filterLate(ids: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select payment_id as id from late_payments
        where payment_id = any(${[...ids]}::text[]) and result is null`;
      return new Set(rows.map(({ id }) => id));
    },

    /** Examines the newest payments before an id. @returns those that ended without an event or a delivery */
    async listUnfinished(before: string | null, limit: number): Promise<Examined> {
      const [row] = await sql<Examined[]>`
        with newest as (
          select id, application, order_id, status from payments
          where ${before}::text is null or id < ${before}
          order by id desc limit ${limit}
        )
        select count(*) as examined, min(n.id) as last,
          coalesce(json_agg(json_build_object('id', n.id, 'application', n.application,
            'orderId', n.order_id, 'status', n.status)) filter (
              where n.status not in ('pending', 'processing') and d.event_id is null
            ), '[]') as different
        from newest n
        left join events e on e.payment_id = n.id and e.subject = n.id
        left join deliveries d on d.event_id = e.id`;
      return row ?? { different: [], examined: 0, last: null };
    },

    /** Returns those of the payments that exist. */
    async filterExisting(ids: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select id from payments where id = any(${[...ids]}::text[])`;
      return new Set(rows.map(({ id }) => id));
    },
  };
};
