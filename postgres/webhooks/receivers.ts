import { eventKinds } from '../../contract/event.ts';
import { limits } from '../../contract/limits.ts';
import type { ReceiverState } from '../../contract/receiver.ts';
import { everyDelivery, matchingDeliveries } from './delivery-filter.ts';
import { first, type Fragment, type Queries } from '../driver/sql.ts';

/** The health of an application's receiver in one mode, and what waits for it. */
export interface ReceiverHealth {
  /** Null without a webhook URL. */
  state: ReceiverState | null;
  since: Date | null;
  /** Deliveries that the receiver has not accepted yet. They and the exhausted ones are counted to `limits.receiverEvents`. */
  waiting: number;
  exhausted: number;
  /** The class of the last error of those that make it unwell. */
  lastError: string | null;
  lastAcceptedAt: Date | null;
  /** Of the oldest that wait. */
  nextAttemptAt: Date | null;
}

export interface ReceiverChange {
  application: string;
  test: boolean;
  /** Null: nothing is left that shows how it is. */
  state: ReceiverState | null;
}

/**
 * A receiver that accepts one event and not another stays unwell for this long after the last failure. Otherwise one that
 * answers now and then would change its state with each sweep.
 */
export const calmMinutes = 10;

const newestMax = 10;

/** Which receivers are well, by what they accept. */
export const createReceivers = (sql: Queries) => {
  /** The last failure of an application and mode that counts, of the deliveries with this status. */
  const lastFailure = (owner: Fragment, status: Fragment) => sql`(
    select max(d.failing_at) from deliveries d
    where d.application = ${owner}.application and d.test = ${owner}.test and d.status = ${status}
      and d.failing_at is not null)`;
  /** Of those that it accepted within a minute, it looks at the newest of each kind. */
  const lastAccepted = (owner: Fragment) => sql`greatest((
    select max(d.delivered_at) from deliveries d
    where d.application = ${owner}.application and d.test = ${owner}.test
      and d.delivered_at - d.recorded_at > interval '1 minute'
  ), (
    select max(n.delivered_at) from unnest(${[...eventKinds]}::text[]) as k (kind) cross join lateral (
      select d.delivered_at from deliveries d
      where d.application = ${owner}.application and d.test = ${owner}.test and d.kind = k.kind and d.status = 'delivered'
      order by d.recorded_at desc limit ${newestMax}) as n
  ))`;

  return {
    /**
     * Finds out how each receiver is, and records what has changed. It is unwell while it has accepted nothing since a
     * failure that counts, and for ten minutes after one. An exhausted delivery makes it exhausted, which only an accepted
     * event ends: a replay that fails, too, is no better. Without a webhook URL, or when a purge has deleted all that
     * shows its trouble, its row goes.
     */
    async sweep(now: Date): Promise<ReceiverChange[]> {
      return sql<ReceiverChange[]>`
        with failures as materialized (
          select o.application, o.test, o.has_url, r.state, r.since,
            ${lastFailure(sql`o`, sql`'pending'`)} as pending_at, ${lastFailure(sql`o`, sql`'exhausted'`)} as exhausted_at
          from (
            select a.slug as application, m.test, a.webhook_url is not null as has_url
            from applications a cross join (values (false), (true)) as m (test)
          ) as o
          left join receivers r on r.application = o.application and r.test = o.test
        ), accepted as materialized (
          select f.*, ${lastAccepted(sql`f`)} as at from failures f
          where f.pending_at is not null or f.exhausted_at is not null or f.state <> 'ok'
        ), bounds as (
          select a.*, least(coalesce(a.at, '-infinity'),
            ${now}::timestamptz - make_interval(mins => ${calmMinutes}::int)) as calm_since
          from accepted a
        ), found as (
          select b.application, b.test, b.state as before, case
            when not b.has_url then null
            when b.exhausted_at > b.calm_since then 'exhausted'
            when b.pending_at > b.calm_since then case b.state when 'exhausted' then 'exhausted' else 'failing' end
            when b.pending_at is not null or b.exhausted_at is not null or b.at > b.since then 'ok'
          end as state
          from bounds b
        ), changed as (
          -- One that was never unwell needs no row to be well.
          select f.application, f.test, f.state from found f
          where f.state is distinct from f.before and not (f.state = 'ok' and f.before is null)
        ), gone as (
          delete from receivers r using changed c
          where c.state is null and r.application = c.application and r.test = c.test
        ), kept as (
          insert into receivers as r (application, test, state, since)
          select c.application, c.test, c.state, ${now}::timestamptz from changed c where c.state is not null
          on conflict (application, test) do update set state = excluded.state, since = excluded.since
        )
        select application, test, state from changed order by application, test`;
    },

    /** @returns undefined if there is no such application */
    get(application: string, test: boolean): Promise<ReceiverHealth | undefined> {
      const pending = { ...everyDelivery, application, test, delivery: 'pending' as const };
      const waiting = matchingDeliveries(sql, pending, {
        order: 'oldest',
        limit: limits.receiverEvents,
      });
      const failing = (status: Fragment) => sql`
        (select d.failing_at, d.error_class from deliveries d
        where d.application = ${application} and d.test = ${test} and d.status = ${status} and d.failing_at is not null
        order by d.failing_at desc limit 1)`;
      return first(sql<ReceiverHealth[]>`
        select case when a.webhook_url is not null then coalesce(r.state, 'ok') end as state, r.since,
          w.count::int as waiting, w.next_attempt_at as "nextAttemptAt", (
            select count(*) from (
              select from deliveries d
              where d.application = ${application} and d.test = ${test} and d.status = 'exhausted'
                and d.failing_at is not null limit ${limits.receiverEvents}) as e
          )::int as exhausted,
          case when r.state <> 'ok' then (
            select f.error_class from (${failing(sql`'pending'`)} union all ${failing(sql`'exhausted'`)}) as f
            order by f.failing_at desc limit 1)
          end as "lastError",
          ${lastAccepted(sql`o`)} as "lastAcceptedAt"
        from applications a
        cross join (select ${application}::text as application, ${test}::boolean as test) as o
        left join receivers r on r.application = a.slug and r.test = o.test and a.webhook_url is not null
        cross join (select count(*), min(w.next_attempt_at) as next_attempt_at from (${waiting}) as w) as w
        where a.slug = ${application}`);
    },
  };
};
export type Receivers = ReturnType<typeof createReceivers>;
