import { firstLinkId, firstPaymentId } from '../../contract/ids.ts';
import type { Queries } from '../driver/sql.ts';

/** Deletes old records in bounded batches. */
export const createRetention = (sql: Queries) => ({
  /** @returns a login that may delete nothing; undefined if this one may */
  async findRefusedLogin(): Promise<string | undefined> {
    const [row] = await sql<{ login: string }[]>`
      select session_user as login where not has_table_privilege('payments', 'delete')`;
    return row?.login;
  },

  /**
   * Deletes webhook tests, refused requests, console logins and response bodies of receivers from before that time.
   * @returns how many bodies, at most `limit`
   */
  async deleteResponseBodies(before: Date, limit: number): Promise<number> {
    const { count } = await sql`
      with deleted_tests as (
        delete from webhook_tests where requested_at < ${before}
      ), deleted_requests as (
        delete from refused_requests where at < ${before}
      ), deleted_sessions as (
        delete from console_sessions where created_at < ${before}
      ), deleted_links as (
        delete from console_links where created_at < ${before}
      )
      update attempts set response_body = null where (event_id, number) in (
        select event_id, number from attempts
        where response_body is not null and completed_at < ${before}
        order by completed_at limit ${limit})`;
    return count;
  },

  /**
   * Empties the reasons that admins gave before that time, in the audit log and of differences: they are free text. The
   * records stay, and their chain stays whole.
   * @returns how many of the audit log, at most `limit`
   */
  async forgetReasons(before: Date, limit: number): Promise<number> {
    const { count } = await sql`
      with old as (
        select id from audit_log where reason is not null and at < ${before} order by at limit ${limit}
      ), salts as (
        update audit_reasons set salt = null where record in (select id from old)
      ), differences as (
        update account_differences set reason = null where reason is not null and changed_at < ${before}
      )
      update audit_log set reason = null where id in (select id from old)`;
    return count;
  },

  /** Records that a purge has left nothing. Its age is an alert. */
  async recordPurge(): Promise<void> {
    await sql`update upkeep set done_at = now() where task = 'purge'`;
  },

  /**
   * Deletes payments that were created before that time, with everything about them. It leaves payments
   * that are open, or have a pending delivery, a pending refund, an open dispute or an unresolved late payment.
   * @returns how many, at most `limit`
   */
  async deletePayments(before: Date, limit: number): Promise<number> {
    // By ids in an array, and each condition by a subquery of its own row: a join may read whole tables.
    const theirs = sql`any ((select ids from deletable)::text[])`;
    const [row] = await sql<{ count: number }[]>`
      with deleted_replays as (
        delete from replays where ended_at < ${before}
      ), old as (
        select p.id from payments p
        -- Ids are ordered by time, and the primary key begins with the oldest.
        where p.id < ${firstPaymentId(before)} and p.created_at < ${before}
          and p.status not in ('pending', 'processing')
          and (select true from events e join deliveries d on d.event_id = e.id
            where e.payment_id = p.id and d.status = 'pending' limit 1) is null
          and (select true from late_payments l
            where l.payment_id = p.id and l.result is null limit 1) is null
          and (select true from refunds r
            where r.payment_id = p.id and r.status = 'pending' limit 1) is null
          and (select true from dispute_looks l
            where l.payment_id = p.id and l.due_at is not null limit 1) is null
        order by p.id limit ${limit}
      ), deleted_deliveries as (
        -- Waits for an admin who replays the delivery, and then sees that it is pending.
        delete from deliveries where status <> 'pending' and event_id = any ((
          select array_agg(e.id) from events e
          where e.payment_id = any ((select array_agg(id) from old)::text[]))::uuid[])
        returning event_id
      ), deletable as (
        select array_agg(id) as ids from old where (
          select true from events e
          where e.payment_id = old.id
            and e.id not in (select event_id from deleted_deliveries)
            and exists (select from deliveries d where d.event_id = e.id)
          limit 1) is null
      ), deleted_attempts as (
        delete from attempts
        where event_id = any ((select array_agg(event_id) from deleted_deliveries)::uuid[])
      ), deleted_events as (
        delete from events where payment_id = ${theirs}
      ), deleted_late_payments as (
        delete from late_payments where payment_id = ${theirs}
      ), deleted_refunds as (
        delete from refunds where payment_id = ${theirs}
      ), deleted_disputes as (
        delete from disputes where payment_id = ${theirs}
      ), deleted_dispute_looks as (
        delete from dispute_looks where payment_id = ${theirs}
      ), deleted_gateway_entries as (
        delete from gateway_entries where payment_id = ${theirs}
      ), deleted_payers as (
        delete from payers where payment_id = ${theirs}
      ), deleted_outbox_entries as (
        delete from workflow_outbox where payment_id = ${theirs}
      ), deleted_sandbox_payments as (
        delete from sandbox_payments where payment_id = ${theirs}
      ), deleted_sandbox_refunds as (
        delete from sandbox_refunds where payment_id = ${theirs}
      ), deleted as (
        delete from payments where id = ${theirs} returning id
      )
      select count(*) from deleted`;
    return row?.count ?? 0;
  },

  /**
   * Deletes links that have ended and whose time was over before that time, with the event of those that nobody has tried
   * to pay. It leaves links with payments, or with a pending delivery.
   * @param after only links with a higher id: a batch would read again all links that those before it have left
   * @returns the last one of at most `limit` links that it has looked at; null if there was none
   */
  async deleteLinks(before: Date, after: string, limit: number): Promise<string | null> {
    const [row] = await sql<{ last: string | null }[]>`
      with looked_at as materialized (
        select id from links
        where id > ${after} and id < ${firstLinkId(before)} and expires_at < ${before} and status <> 'open'
        order by id limit ${limit}
      ), old as (
        select l.id, (select e.id from events e where e.subject = l.id and e.payment_id is null) as event_id
        from looked_at l
        where (select true from payments p where p.link_id = l.id limit 1) is null
          and (select true from events e join deliveries d on d.event_id = e.id
            where e.subject = l.id and e.payment_id is null and d.status = 'pending') is null
      ), deleted_deliveries as (
        -- As for payments: an admin may replay it.
        delete from deliveries where status <> 'pending'
          and event_id = any ((select array_agg(event_id) from old)::uuid[])
        returning event_id
      ), deletable as (
        select array_agg(id) as ids, array_agg(event_id) as event_ids from old
        where event_id is null or event_id in (select event_id from deleted_deliveries)
      ), deleted_attempts as (
        delete from attempts where event_id = any ((select event_ids from deletable)::uuid[])
      ), deleted_events as (
        delete from events where id = any ((select event_ids from deletable)::uuid[])
      ), deleted as (
        delete from links where id = any ((select ids from deletable)::text[])
      )
      select max(id) as last from looked_at`;
    return row?.last ?? null;
  },
});
