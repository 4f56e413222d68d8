import { type Status, statuses } from '../../contract/status.ts';
import { isDifferenceOf } from '../accounts/days.ts';
import { joinOwnDelivery, ownersOf, type PaymentRow, rowColumns } from '../admin/payments.ts';
import { first, type Fragment, type Queries } from '../driver/sql.ts';

/** Payments of one hour with one status. */
export interface HourCount {
  hour: Date;
  status: Status;
  count: number;
}

/** Payments through one gateway with one status. */
export interface GatewayCount {
  gateway: string;
  status: Status;
  count: number;
}

/** A thing that belongs to live or to tests, and has a page of its own. */
export type ThingKind =
  'payment' | 'refund' | 'dispute' | 'link' | 'event' | 'replay' | 'difference' | 'request';

/** The work that no process has done yet. Null: there is none. */
export interface Waiting {
  notStarted: number;
  notStartedSince: Date | null;
  overdueSince: Date | null;
}

/** More payments without a workflow are not counted. */
export const waitingMax = 10_000;

/** The overview counts at most this many payments of an application, mode and status. */
const countMax = 200_000;
/** It reads at most this many of an application and mode to compare gateways. */
export const comparedMax = 10_000;

/**
 * The reads of the web console beside the operations of admins. They span all applications: for each
 * application and mode they read the beginning of one range of an index that the API's lists have.
 */
export const createConsoleQueries = (sql: Queries) => {
  const modeQueries: Record<ThingKind, (id: string) => Fragment> = {
    payment: (id) => sql`select test from payments where id = ${id}`,
    refund: (id) => sql`select test from refunds where id = ${id}`,
    dispute: (id) => sql`select test from disputes where id = ${id}`,
    link: (id) => sql`select test from links where id = ${id}`,
    event: (id) => sql`
      select test from events where id = ${id}`,
    replay: (id) => sql`select test from replays where id = ${id}`,
    difference: (id) => sql`
      select ${isDifferenceOf(sql, true)} as test from account_differences f where f.id = ${id}`,
    request: (id) => sql`select test from refused_requests where id = ${id}`,
  };
  const owners = (of: Parameters<typeof ownersOf>[1]) => ownersOf(sql, of);
  const row = rowColumns(sql);
  const ownDelivery = joinOwnDelivery(sql);

  return {
    /** Payments since then. It reads an index alone, which has no gateway. */
    async countByHour(test: boolean, since: Date): Promise<HourCount[]> {
      return sql<HourCount[]>`
        select date_trunc('hour', p.created_at, 'UTC') as hour, p.status, count(*)
        from ${owners({ application: null, test })}
        cross join unnest(${[...statuses]}::text[]) as s (status)
        cross join lateral (
          select p.created_at, p.status from payments p
          where p.application = o.slug and p.test = o.test and p.status = s.status
            and p.created_at >= ${since}
          order by p.created_at desc limit ${countMax}
        ) as p
        group by 1, 2`;
    },

    /** The newest payments since then, by gateway. */
    async countByGateway(test: boolean, since: Date): Promise<GatewayCount[]> {
      return sql<GatewayCount[]>`
        select p.gateway, p.status, count(*)
        from ${owners({ application: null, test })} cross join lateral (
          select p.gateway, p.status from payments p
          where p.application = o.slug and p.test = o.test and p.created_at >= ${since}
          order by p.created_at desc, p.id desc limit ${comparedMax}
        ) as p
        group by 1, 2`;
    },

    /** The payment that has been open for the longest time. */
    oldestOpen: (test: boolean) =>
      first(sql<{ id: string; createdAt: Date }[]>`
        select p.id, p.created_at as "createdAt"
        from ${owners({ application: null, test })}
        cross join (values ('pending'), ('processing')) as s (status)
        cross join lateral (
          select p.id, p.created_at from payments p
          where p.application = o.slug and p.test = o.test and p.status = s.status
          order by p.created_at, p.id limit 1
        ) as p
        order by p.created_at limit 1`),

    /** The things that wait for a process: payments without a workflow, and the webhook that is overdue for the longest time. */
    async waiting(test: boolean): Promise<Waiting> {
      const [waiting] = await sql<[Waiting]>`
        select o.count as "notStarted", o.oldest as "notStartedSince", (
          select d.next_attempt_at from deliveries d
          where d.status = 'pending' and d.postponed_at is null and d.test = ${test} and d.next_attempt_at < now()
          order by d.next_attempt_at limit 1) as "overdueSince"
        from (
          select count(*)::int, min(o.created_at) as oldest from (
            select o.created_at from workflow_outbox o join payments p on p.id = o.payment_id
            where p.test = ${test} order by o.created_at limit ${waitingMax}) as o) as o`;
      return waiting;
    },

    /** Whether the thing is a test. Undefined: there is none, or it is of both modes. */
    async findMode(kind: ThingKind, id: string): Promise<boolean | undefined> {
      const [found] = await sql<{ test: boolean | null }[]>`${modeQueries[kind](id)}`;
      return found?.test ?? undefined;
    },

    /** The payment that an event is about. */
    findByEvent: (eventId: string) =>
      first(sql<{ paymentId: string; application: string }[]>`
        select payment_id as "paymentId", application from events where id = ${eventId}`),

    /**
     * Payments whose order, gateway reference or tracking code is this text, with the kind of the match.
     * @param owner of these applications (null: of all), and of this mode
     */
    async findByText(
      text: string,
      { applications, test }: { applications: readonly string[] | null; test: boolean },
      limit: number,
    ): Promise<(PaymentRow & { found: string })[]> {
      const isVisible =
        applications === null
          ? sql`p.test = ${test}`
          : sql`p.test = ${test} and p.application = any(${applications as string[]})`;
      return sql<(PaymentRow & { found: string })[]>`
        select ${row}, p.found from (
          (select 'order' as found, p.* from ${owners({ application: null, test })}
            cross join lateral (
              select p.* from payments p
              where p.application = o.slug and p.test = o.test and p.order_id = ${text}
                and ${isVisible}
              order by p.created_at desc, p.id desc limit ${limit}) as p
            limit ${limit})
          union all
          (select 'gateway reference', p.* from gateways g cross join lateral (
              select p.* from payments p
              where p.gateway = g.slug and p.gateway_reference = ${text} and ${isVisible}) as p
            limit ${limit})
          union all
          (select 'tracking code', p.* from gateways g cross join lateral (
              select p.* from payments p
              where p.gateway = g.slug and p.tracking_code = ${text} and ${isVisible}
              order by p.tracking_code limit ${limit}) as p
            limit ${limit})
        ) as p
        ${ownDelivery}
        order by p.found, p.created_at desc, p.id desc`;
    },

    /** The application of tokens that begin with these characters. */
    async findToken(prefix: string): Promise<{ application: string; name: string }[]> {
      return sql<{ application: string; name: string }[]>`
        select application, name from tokens
        where prefix = ${prefix} order by application limit 10`;
    },
  };
};
