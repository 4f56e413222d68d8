import type { EventKind } from '../contract/event.ts';
import { limits } from '../contract/limits.ts';
import type { ListPosition } from '../contract/list.ts';
import { type DeliveryStatus, deliveryStatuses } from '../contract/status.ts';
import type { AttemptRecord } from './admin-events.ts';
import type { Fragment, Queries } from './driver/sql.ts';
import type { Owner } from './payments.ts';

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

export interface EventQuery {
  kind: EventKind | undefined;
  delivery: DeliveryStatus | undefined;
  paymentId: string | undefined;
  orderId: string | undefined;
  from: Date | undefined;
  to: Date | undefined;
  /** `newest` first by `created_at`; `feed`: in the order of recording. */
  order: 'newest' | 'feed';
  after: ListPosition | undefined;
  withBody: boolean;
  limit: number;
}

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
  const ownedBy = ({ application, test }: Owner, { orderId }: Pick<EventQuery, 'orderId'>) => sql`
    d.application = ${application} and d.test = ${test}
    ${orderId === undefined ? sql`` : sql`and d.order_id = ${orderId}`}`;

  /**
   * The combinations of kind and status that a list reads, each from one range of an index. Kinds come from
   * the rows, because a later version may have recorded one that is unknown here.
   */
  const ranges = (owner: Owner, query: EventQuery): Fragment => {
    const { kind, delivery } = query;
    const ofOwner = ownedBy(owner, query);
    const kinds =
      kind === undefined
        ? sql`
          (select min(d.kind) as kind from deliveries d where ${ofOwner})
          union all
          select (select min(d.kind) from deliveries d where ${ofOwner} and d.kind > kinds.kind)
          from kinds where kinds.kind is not null`
        : sql`select ${kind}::text as kind`;
    const statuses = delivery === undefined ? [...deliveryStatuses] : [delivery];
    return sql`
      with recursive kinds as (${kinds}), ranges as (
        select kinds.kind, s.status from kinds cross join unnest(${statuses}::text[]) as s (status)
        where kinds.kind is not null)`;
  };

  /** The default limit (20 and one more) is a literal: with a parameter Postgres would plan each time. */
  const limitTo = (limit: number) => (limit === 21 ? sql`limit 21` : sql`limit ${limit}`);

  /** The order of a list, and the part of it that the query asks for. */
  const orderOf = ({ order, from, to, after }: Omit<EventQuery, 'limit'>) => {
    const feed = order === 'feed';
    const at = feed ? sql`d.recorded_at` : sql`d.created_at`;
    // With two bounds on one side, an index scan may start at the looser one.
    const lower = feed && after ? sql`` : from && sql`and ${at} >= ${from}`;
    const isAfterTighter = !feed && after && to && after.at < to;
    const upper = isAfterTighter ? sql`` : to && sql`and ${at} < ${to}`;
    return {
      part: sql`
        ${lower ?? sql``} ${upper ?? sql``}
        ${after ? sql`and (${at}, d.event_id) ${feed ? sql`>` : sql`<`} (${after.at}, ${after.id}::uuid)` : sql``}`,
      order: feed ? sql`${at}, d.event_id` : sql`${at} desc, d.event_id desc`,
    };
  };

  return {
    /** @returns undefined if the event does not exist or has another owner */
    async get(id: string, { application, test }: Owner): Promise<EventWithAttempts | undefined> {
      const [row] = await sql<EventWithAttempts[]>`
        select ${columns(sql)}, e.body, coalesce((
          select json_agg(json_build_object('number', t.number, 'round', t.round, 'trigger', t.trigger,
            'startedAt', t.started_at, 'completedAt', t.completed_at, 'durationMs', t.duration_ms,
            'responseStatus', t.response_status, 'errorClass', t.error_class,
            'responseBody', case when t.error_class is not null then t.response_body end,
            'responseTruncated', t.response_truncated) order by t.number)
          from (select * from attempts where event_id = d.event_id order by number desc
            limit ${limits.attemptsShown}) as t), '[]') as attempts
        from deliveries d join events e on e.id = d.event_id
        where d.event_id = ${id}::uuid and d.application = ${application} and d.test = ${test}`;
      return row;
    },

    /** Every list reads only the beginning of some ranges of one index, whatever its filters. */
    async list(owner: Owner, query: EventQuery): Promise<EventRecord[]> {
      const { kind, delivery, paymentId, withBody, limit } = query;
      const { part, order } = orderOf(query);
      // Postgres computes such a column after the sort and the limit: it reads the bodies of the page alone.
      const shown = withBody
        ? sql`${columns(sql)}, (select e.body from events e where e.id = d.event_id) as body`
        : columns(sql);
      if (paymentId !== undefined)
        // Without the offset Postgres sometimes reads a range of the application's events instead.
        return sql<EventRecord[]>`
          select ${shown} from events e cross join lateral (
            select * from deliveries where event_id = e.id offset 0) d
          where e.payment_id = ${paymentId} and ${ownedBy(owner, query)}
            ${kind === undefined ? sql`` : sql`and d.kind = ${kind}`}
            ${delivery === undefined ? sql`` : sql`and d.status = ${delivery}`} ${part}
          order by ${order} ${limitTo(limit)}`;
      return sql<EventRecord[]>`
        ${ranges(owner, query)}
        select ${shown} from ranges cross join lateral (
          select d.* from deliveries d
          where ${ownedBy(owner, query)} and d.kind = ranges.kind and d.status = ranges.status ${part}
          order by ${order} ${limitTo(limit)}) as d
        order by ${order} ${limitTo(limit)}`;
    },
  };
};
export type Events = ReturnType<typeof createEvents>;
