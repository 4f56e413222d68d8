import type { Event } from '../contract/event.ts';
import type { Queries } from './driver/sql.ts';

/** Locks the feed of `of_payment` until the event commits: events commit in the feed's order. */
const nextFeedPosition = (sql: Queries) => sql`
  insert into feeds as f (application, test, recorded_at)
  select application, test, clock_timestamp() from of_payment
  on conflict (application, test) do update
    set recorded_at = greatest(excluded.recorded_at, f.recorded_at + interval '1 ms')
  returning recorded_at`;

/**
 * Common table expressions that record an event with its final body, and its delivery, unless `of_payment` is empty.
 * `of_payment` is an expression before them with id, application, test and order_id of the payment.
 * @param subject the id of the payment, of its refund, of its dispute or of its link
 * @param options.hasPayment false: nobody has tried to pay the link, and `id` is that of no payment
 */
export const eventInserts = (
  sql: Queries,
  { id, kind, body, createdAt }: Event,
  subject: string,
  { hasPayment = true } = {},
) => sql`
    event as (
      insert into events (id, subject, payment_id, application, test, kind, body, created_at)
      select ${id}::uuid, ${subject}, ${hasPayment ? sql`id` : sql`null`}, application, test, ${kind}, ${Buffer.from(body)}::bytea,
        ${createdAt}::timestamptz
      from of_payment
      returning id, kind, created_at
    ), feed as (${nextFeedPosition(sql)}), delivery as (
      insert into deliveries (event_id, payment_id, application, test, order_id, kind, created_at,
        recorded_at, status, next_attempt_at)
      select event.id, p.id, p.application, p.test, p.order_id, event.kind,
        event.created_at, feed.recorded_at, case when a.webhook_url is null then 'none' else 'pending' end,
        case when a.webhook_url is not null then event.created_at end
      from of_payment p cross join event cross join feed
      join applications a on a.slug = p.application
    )`;
