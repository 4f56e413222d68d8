import type { EventKind } from '../../contract/event.ts';
import type { ListPosition } from '../../contract/list.ts';
import { type DeliveryStatus, deliveryStatuses } from '../../contract/status.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import { conditionsOf, rangeOf, type TimeRange } from '../list.ts';

/** A filter asks for a status, or one of two groups whose last attempt failed. */
export const deliveryStates = ['undelivered', 'failing', ...deliveryStatuses] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The statuses of a state. */
export const statusesOf = (state: DeliveryState | null): readonly DeliveryStatus[] => {
  if (state === null) return deliveryStatuses;
  if (state === 'failing') return ['pending'];
  return state === 'undelivered' ? ['pending', 'exhausted'] : [state];
};

/** Selects the deliveries that a list shows and a replay takes. Null: all of them. */
export interface DeliveryFilter extends TimeRange {
  application: string | null;
  test: boolean | null;
  kind: EventKind | null;
  delivery: DeliveryState | null;
  /** The class of the last attempt's error. */
  errorClass: string | null;
  eventIds: readonly string[] | null;
}

export const everyDelivery: DeliveryFilter = {
  application: null,
  test: null,
  kind: null,
  delivery: null,
  errorClass: null,
  from: null,
  to: null,
  eventIds: null,
};

export interface Part {
  /** Without an order it is only good for counting. */
  order?: 'newest' | 'oldest';
  after?: ListPosition | null;
  limit: number;
  /** Only those of applications that have a webhook URL now. */
  withUrl?: boolean;
}

/**
 * Selects deliveries that match, with all columns. It reads the beginning of one range of an index for each
 * application, mode, kind and status. Kinds come from the rows, because a later version may have recorded one that is
 * unknown here.
 */
export const matchingDeliveries = (sql: Queries, filter: DeliveryFilter, part: Part): Fragment => {
  const { application, test, kind, delivery, eventIds, from, to, ...others } = filter;
  const { order, after = null, limit, withUrl = false } = part;
  const ordered =
    order === undefined
      ? sql``
      : order === 'oldest'
        ? sql`order by d.created_at, d.event_id`
        : sql`order by d.created_at desc, d.event_id desc`;
  const equals = (column: Fragment, value: string | boolean | null) =>
    value === null ? sql`` : sql`and ${column} = ${value}`;
  const hasFailed = delivery === 'failing' || delivery === 'undelivered';
  const statuses = [...statusesOf(delivery)];
  const columns = { at: sql`d.created_at`, id: sql`d.event_id` };
  const rest = sql`
    ${conditionsOf(sql, others, { errorClass: (errorClass) => sql`d.error_class = ${errorClass}` })}
    ${hasFailed ? sql`and d.error_class is not null` : sql``}
    ${rangeOf(sql, { from, to }, after, { ...columns, isOldestFirst: order === 'oldest' })}`;

  if (eventIds)
    return sql`
      select d.* from deliveries d
      where d.event_id = any(${[...eventIds]}::text[]::uuid[])
        ${equals(sql`d.application`, application)} ${equals(sql`d.test`, test)}
        ${equals(sql`d.kind`, kind)} and d.status = any(${statuses}::text[]) ${rest}
        ${
          withUrl
            ? sql`and exists (select from applications a
                where a.slug = d.application and a.webhook_url is not null)`
            : sql``
        }
      ${ordered} limit ${limit}`;
  const nextKind = (owner: Fragment, next: Fragment) => sql`(
    select min(d.kind) from deliveries d
    where d.application = ${owner}.application and d.test = ${owner}.test ${next})`;
  return sql`
    with recursive owners as (
      select a.slug as application, m.test from applications a
      cross join (values (true), (false)) as m (test)
      where true ${withUrl ? sql`and a.webhook_url is not null` : sql``}
        ${equals(sql`a.slug`, application)} ${equals(sql`m.test`, test)}
    ), kinds as (
      ${
        kind === null
          ? sql`
            select o.application, o.test, ${nextKind(sql`o`, sql``)} as kind from owners o
            union all
            select k.application, k.test, ${nextKind(sql`k`, sql`and d.kind > k.kind`)}
            from kinds k where k.kind is not null`
          : sql`select o.application, o.test, ${kind}::text as kind from owners o`
      }
    )
    select d.* from kinds k
    cross join unnest(${statuses}::text[]) as s (status)
    cross join lateral (
      select d.* from deliveries d
      where d.application = k.application and d.test = k.test and d.kind = k.kind
        and d.status = s.status ${rest}
      ${ordered} limit ${limit}) as d
    where k.kind is not null
    ${ordered} limit ${limit}`;
};
