import { firstPaymentIdOf } from '../contract/ids.ts';
import type { Queries } from './driver/sql.ts';

/** Drops what is old, a bounded batch at a time. */
export const createRetention = (sql: Queries) => ({
  /** What receivers answered before that time. @returns how many, at most `limit` */
  async dropBodies(before: Date, limit: number): Promise<number> {
    const { count } = await sql`
      update attempts set response_body = null where (payment_id, number) in (
        select payment_id, number from attempts
        where response_body is not null and completed_at < ${before}
        order by completed_at limit ${limit})`;
    return count;
  },

  /**
   * Payments created before that time with everything about them, where nothing is left to do: they
   * have ended, nothing is to be delivered, and no late money is being looked for.
   * @returns how many, at most `limit`
   */
  async dropPayments(before: Date, limit: number): Promise<number> {
    const [row] = await sql<{ count: number }[]>`
      with old as (
        select p.id from payments p left join deliveries d on d.payment_id = p.id
        -- Ids are ordered by time, and the primary key begins with the oldest.
        where p.id < ${firstPaymentIdOf(before)} and p.created_at < ${before}
          and p.status not in ('pending', 'processing') and d.status is distinct from 'pending'
          and not exists (
            select from late_payments l where l.payment_id = p.id and l.result is null)
        order by p.id limit ${limit}
      ), dropped_deliveries as (
        -- Waits for an admin who is re-triggering one, and then sees that it is pending.
        delete from deliveries where payment_id in (select id from old) and status <> 'pending'
        returning payment_id
      ), gone as (
        select id from old where not exists (select from deliveries d where d.payment_id = id)
        union all select payment_id from dropped_deliveries
      ), dropped_attempts as (
        delete from attempts where payment_id in (select id from gone)
      ), dropped_events as (
        delete from events where payment_id in (select id from gone)
      ), dropped_late_payments as (
        delete from late_payments where payment_id in (select id from gone)
      ), dropped_outbox as (
        delete from workflow_outbox where payment_id in (select id from gone)
      ), dropped_sandbox_payments as (
        delete from sandbox_payments where payment_id in (select id from gone)
      ), dropped as (
        delete from payments where id in (select id from gone) returning id
      )
      select count(*) from dropped`;
    return row?.count ?? 0;
  },
});
