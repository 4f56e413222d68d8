import type { EventKind } from '../../contract/event.ts';
import { limits } from '../../contract/limits.ts';
import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListEvents } from '../../contract/list-events.ts';
import { type DeliveryStatus, deliveryStatuses } from '../../contract/status.ts';
import type { AttemptRecord } from './deliveries.ts';
import { first, type Fragment, type Queries } from '../driver/sql.ts';
import { conditionsOf, limitTo, rangeOf } from '../list.ts';
import type { Owner } from '../payments/payments.ts';

/** An event with the state of its delivery. */
export interface EventRecord {
  id: string;
  kind: EventKind;
  paymentId: string;
  orderId: string;
  test: boolean;
  createdAt: Date;
  recordedAt: Date;
  status: DeliveryStatus;
  round: number;
  /** Completed attempts of this round. */
  attemptsMade: number;
  nextAttemptAt: Date | null;
  deliveredAt: Date | null;
  /** If the query asks for it. */
  body?: Buffer;
}

/** One POST, as the application sees it. */
export interface EventAttempt extends Omit<AttemptRecord, 'startedAt' | 'completedAt' | 'error'> {
  startedAt: string;
  completedAt: string | null;
  /** Null for an accepted attempt: should an address check ever fail, no answer becomes readable. */
  responseBody: string | null;
}

export interface EventWithAttempts extends EventRecord {
  body: Buffer;
  attempts: EventAttempt[];
}

/** Its order is `desc`, the newest first by `created_at`, or `asc`, the feed: in the order of recording. */
export type EventFilter = Owner & Filters<ListEvents>;

/** Of deliveries `d`. */
const columns = (sql: Queries) => sql`
  d.event_id as id, d.kind, d.payment_id as "paymentId", d.order_id as "orderId", d.test,
  d.created_at as "createdAt", d.recorded_at as "recordedAt", d.status, d.round,
  d.next_attempt_at as "nextAttemptAt", d.delivered_at as "deliveredAt",
  case when d.status = 'pending' then (
    select count(*) from attempts t
    where t.event_id = d.event_id and t.round = d.round and t.completed_at is not null)
  else 0 end as "attemptsMade"`;

/** The events of applications and their deliveries, for reading. */
export const createEvents = (sql: Queries) => {
  /**
   * The combinations of kind and status that a list reads, each from one range of an index. Kinds come from
   * the rows, because a later version may have recorded one that is unknown here.
   */
  const ranges = (
    { event, delivery }: Pick<EventFilter, 'event' | 'delivery'>,
    matching: Fragment,
  ): Fragment => {
    const kinds =
      event === null
        ? sql`
          (select min(d.kind) as kind from deliveries d where true ${matching})
          union all
          select (select min(d.kind) from deliveries d where d.kind > kinds.kind ${matching})
          from kinds where kinds.kind is not null`
        : sql`select ${event}::text as kind`;
    const statuses = delivery === null ? [...deliveryStatuses] : [delivery];
    return sql`
      with recursive kinds as (${kinds}), ranges as (
        select kinds.kind, s.status from kinds cross join unnest(${statuses}::text[]) as s (status)
        where kinds.kind is not null)`;
  };

  return {
    /** @returns undefined if the event does not exist or has another owner */
    get: (id: string, { application, test }: Owner) =>
      first(sql<EventWithAttempts[]>`
        select ${columns(sql)}, e.body, coalesce((
          select json_agg(json_build_object('number', t.number, 'round', t.round, 'trigger', t.trigger,
            'startedAt', t.started_at, 'completedAt', t.completed_at, 'durationMs', t.duration_ms,
            'responseStatus', t.response_status, 'errorClass', t.error_class,
            'responseBody', case when t.error_class is not null then t.response_body end,
            'responseTruncated', t.response_truncated) order by t.number)
          from (select * from attempts where event_id = d.event_id order by number desc
            limit ${limits.attemptsShown}) as t), '[]') as attempts
        from deliveries d join events e on e.id = d.event_id
        where d.event_id = ${id}::uuid and d.application = ${application} and d.test = ${test}`),

    /** Every list reads only the beginning of some ranges of one index, whatever its filters. */
    async list(
      { event, delivery, paymentId, order: by, from, to, include, ...filter }: EventFilter,
      { after, limit }: ListPage,
    ): Promise<EventRecord[]> {
      const isFeed = by === 'asc';
      const at = isFeed ? sql`d.recorded_at` : sql`d.created_at`;
      const id = sql`d.event_id`;
      const order = isFeed ? sql`${at}, ${id}` : sql`${at} desc, ${id} desc`;
      const page = sql`order by ${order} ${limitTo(sql, limit)}`;
      const part = rangeOf(sql, { from, to }, after, { at, id, isOldestFirst: isFeed });
      const matching = conditionsOf(sql, filter, {
        application: (application) => sql`d.application = ${application}`,
        test: (test) => sql`d.test = ${test}`,
        orderId: (orderId) => sql`d.order_id = ${orderId}`,
      });
      // Postgres computes such a column after the sort and the limit: it reads the bodies of the page alone.
      const shown =
        include === 'payload'
          ? sql`${columns(sql)}, (select e.body from events e where e.id = d.event_id) as body`
          : columns(sql);
      if (paymentId !== null)
        // Without the offset Postgres sometimes reads a range of the application's events instead.
        return sql<EventRecord[]>`
          select ${shown} from events e cross join lateral (
            select * from deliveries where event_id = e.id offset 0) d
          where e.payment_id = ${paymentId} ${matching}
            ${event === null ? sql`` : sql`and d.kind = ${event}`}
            ${delivery === null ? sql`` : sql`and d.status = ${delivery}`} ${part}
          ${page}`;
      return sql<EventRecord[]>`
        ${ranges({ event, delivery }, matching)}
        select ${shown} from ranges cross join lateral (
          select d.* from deliveries d
          where d.kind = ranges.kind and d.status = ranges.status ${matching} ${part}
          ${page}) as d
        ${page}`;
    },
  };
};
export type Events = ReturnType<typeof createEvents>;
