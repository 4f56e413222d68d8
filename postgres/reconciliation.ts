import type { WorkflowStart } from '../contract/payment.ts';
import type { Status } from '../contract/status.ts';
import type { Fragment, Queries } from './driver/sql.ts';
import { workflowStartColumns } from './payments.ts';
import { isStalled } from './sweeper.ts';

/** A payment that a workflow has to be working on. */
export interface PaymentInProgress extends WorkflowStart {
  status: Status;
  /** Of an open payment when it expires, of a delivery its next attempt, of late money when it was found. */
  dueAt: Date;
  /**
   * The delivery is more than 2 minutes late; the payment should have ended 20 minutes ago, and nobody
   * asks its gateway.
   */
  overdue: boolean;
  /** Where the next page begins. */
  position: string;
}

export interface Page {
  after: Pick<PaymentInProgress, 'position' | 'id'> | undefined;
  limit: number;
}

export interface Unfinished {
  id: string;
  application: string;
  orderId: string;
  status: Status;
}

/**
 * What is compared with the engine, in pages along an index: positions are texts, since a Date would
 * lose a time's microseconds and with them its place.
 */
export const createReconciliationQueries = (sql: Queries) => {
  const facts = workflowStartColumns(sql);
  const from = (column: Fragment, { after }: Page) =>
    after
      ? sql`and (${column}, p.id) > (${after.position}::text::timestamptz, ${after.id})`
      : sql``;
  return {
    /** Open payments older than a minute: before that, their start may be on its way. */
    async listOpen(page: Page): Promise<PaymentInProgress[]> {
      return sql<PaymentInProgress[]>`
        select ${facts}, p.status, p.expires_at as "dueAt",
          ${isStalled(sql)} as overdue, p.expires_at::text as position
        from payments p
        where p.status in ('pending', 'processing') and p.created_at < now() - interval '1 minute'
          ${from(sql`p.expires_at`, page)}
        order by p.expires_at, p.id limit ${page.limit}`;
    },

    /** Ended payments whose event is still to be delivered. */
    async listUndelivered(page: Page): Promise<PaymentInProgress[]> {
      return sql<PaymentInProgress[]>`
        select ${facts}, p.status, d.next_attempt_at as "dueAt",
          d.next_attempt_at < now() - interval '2 minutes' as overdue,
          d.next_attempt_at::text as position
        from deliveries d join payments p on p.id = d.payment_id
        where d.status = 'pending' ${from(sql`d.next_attempt_at`, page)}
        order by d.next_attempt_at, p.id limit ${page.limit}`;
    },

    /** Money that was found after the end and of which it is not said what became. These are few. */
    async listLate(page: Page): Promise<PaymentInProgress[]> {
      return sql<PaymentInProgress[]>`
        select ${facts}, p.status, l.found_at as "dueAt", false as overdue,
          l.found_at::text as position
        from late_payments l join payments p on p.id = l.payment_id
        where l.result is null ${from(sql`l.found_at`, page)}
        order by l.found_at, p.id limit ${page.limit}`;
    },

    /** Of these, the payments that somebody still has to work on. */
    async stillInProgress(ids: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select p.id from payments p left join deliveries d on d.payment_id = p.id
        where p.id = any(${[...ids]}::text[])
          and (p.status in ('pending', 'processing') or d.status = 'pending')`;
      return new Set(rows.map(({ id }) => id));
    },

    /** Of these, the payments of whose late money it is still not said what became. */
    async stillLate(ids: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select payment_id as id from late_payments
        where payment_id = any(${[...ids]}::text[]) and result is null`;
      return new Set(rows.map(({ id }) => id));
    },

    /** Of the newest payments before an id, those that ended without an event or without its delivery. */
    async listUnfinished(
      before: string | null,
      limit: number,
    ): Promise<{ unfinished: Unfinished[]; looked: number; last: string | null }> {
      const [row] = await sql<{ unfinished: Unfinished[]; looked: number; last: string | null }[]>`
        with newest as (
          select id, application, order_id, status from payments
          where ${before}::text is null or id < ${before}
          order by id desc limit ${limit}
        )
        select count(*) as looked, min(n.id) as last,
          coalesce(json_agg(json_build_object('id', n.id, 'application', n.application,
            'orderId', n.order_id, 'status', n.status)) filter (
              where n.status not in ('pending', 'processing') and d.payment_id is null
            ), '[]') as unfinished
        from newest n left join deliveries d on d.payment_id = n.id`;
      return row ?? { unfinished: [], looked: 0, last: null };
    },

    async existing(ids: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select id from payments where id = any(${[...ids]}::text[])`;
      return new Set(rows.map(({ id }) => id));
    },
  };
};
