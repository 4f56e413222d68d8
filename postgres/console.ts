import type { EventKind } from '../contract/event.ts';
import { type DeliveryStatus, type Status, statuses } from '../contract/status.ts';
import { joinLastAttempt } from './deliveries.ts';
import { type DeliveryFilter, matchingDeliveries } from './delivery-filter.ts';
import type { Queries } from './driver/sql.ts';

/** A row of the console's list of payments. */
export interface PaymentRow {
  id: string;
  application: string;
  test: boolean;
  orderId: string;
  status: Status;
  amount: number;
  currency: string;
  gateway: string;
  createdAt: Date;
  delivery: DeliveryStatus | null;
}

/** A row of the console's list of deliveries. */
export interface DeliveryRow {
  eventId: string;
  kind: EventKind;
  paymentId: string;
  application: string;
  test: boolean;
  orderId: string;
  status: DeliveryStatus;
  createdAt: Date;
  round: number;
  nextAttemptAt: Date | null;
  /** The number of the last attempt that has ended, with its result. */
  attempts: number;
  responseStatus: number | null;
  errorClass: string | null;
}

/** The place in a list after which its next page begins. */
export interface Position {
  at: Date;
  id: string;
}

export interface ListFilter {
  application: string | null;
  test: boolean | null;
  from: Date | null;
  to: Date | null;
  after: Position | null;
  limit: number;
}

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

/** The overview counts at most this many payments of an application, mode and status. */
const countMax = 200_000;
/** It reads at most this many of an application and mode to compare gateways. */
export const comparedMax = 10_000;

/** A list of one gateway looks through at most this many payments of an application and mode. */
const lookedThroughOfOne = 20_000;
const lookedThroughOfMany = 1_000;

/**
 * The reads of the web console beside the operations of admins. Its lists span all applications. For each
 * application and mode they read the beginning of one range of an index that the API's lists have, or of the
 * index by the last error.
 */
export const createConsoleQueries = (sql: Queries) => {
  /** The ranges that a list reads: each application and mode that the filter admits. */
  const owners = ({ application, test }: Pick<ListFilter, 'application' | 'test'>) => sql`
    (select a.slug, m.test from applications a cross join (values (true), (false)) as m (test)
      where true ${application === null ? sql`` : sql`and a.slug = ${application}`}
        ${test === null ? sql`` : sql`and m.test = ${test}`}) as o`;

  return {
    /**
     * The newest payments through one gateway. No index has the gateway: it looks through the newest payments of
     * each application and mode, and says how far back it has searched.
     */
    async listPaymentsByGateway(
      filter: ListFilter & { status: Status | null; gateway: string },
    ): Promise<{ rows: PaymentRow[]; searchedBackTo: Date | null }> {
      const { application, from, to, after, status, gateway, limit } = filter;
      const lookedThrough = application === null ? lookedThroughOfMany : lookedThroughOfOne;
      const found = await sql<(PaymentRow & { searchedBackTo: Date | null })[]>`
        with newest as materialized (
          select p.* from ${owners(filter)} cross join lateral (
            select p.id, p.application, p.test, p.order_id, p.status, p.amount, p.currency,
              p.gateway, p.created_at
            from payments p
            where p.application = o.slug and p.test = o.test
              ${status === null ? sql`` : sql`and p.status = ${status}`}
              ${from === null ? sql`` : sql`and p.created_at >= ${from}`}
              ${to === null ? sql`` : sql`and p.created_at < ${to}`}
              ${after === null ? sql`` : sql`and (p.created_at, p.id) < (${after.at}, ${after.id})`}
            order by p.created_at desc, p.id desc limit ${lookedThrough}
          ) as p
        ), looked as (
          select max(oldest) as back_to from (
            select min(created_at) as oldest from newest
            group by application, test having count(*) >= ${lookedThrough}) as each
        )
        select p.id, p.application, p.test, p.order_id as "orderId", p.status, p.amount, p.currency,
          p.gateway, p.created_at as "createdAt", d.status as delivery,
          looked.back_to as "searchedBackTo"
        from looked left join lateral (
          select n.* from newest n
          where n.gateway = ${gateway} and (looked.back_to is null or n.created_at > looked.back_to)
          order by n.created_at desc, n.id desc limit ${limit}
        ) as p on true
        left join events e on e.payment_id = p.id and e.subject = p.id
        left join deliveries d on d.event_id = e.id
        order by p.created_at desc, p.id desc`;
      const searchedBackTo = found[0]?.searchedBackTo ?? null;
      return { rows: found.filter(({ id }) => id !== null), searchedBackTo };
    },

    /** The newest first. */
    async listPayments(filter: ListFilter & { status: Status | null }): Promise<PaymentRow[]> {
      const { from, to, after, status, limit } = filter;
      return sql<PaymentRow[]>`
        select p.id, p.application, p.test, p.order_id as "orderId", p.status, p.amount, p.currency,
          p.gateway, p.created_at as "createdAt", d.status as delivery
        from (
          select newest.* from ${owners(filter)} cross join lateral (
            select p.* from payments p
            where p.application = o.slug and p.test = o.test
              ${status === null ? sql`` : sql`and p.status = ${status}`}
              ${from === null ? sql`` : sql`and p.created_at >= ${from}`}
              ${to === null ? sql`` : sql`and p.created_at < ${to}`}
              ${after === null ? sql`` : sql`and (p.created_at, p.id) < (${after.at}, ${after.id})`}
            order by p.created_at desc, p.id desc limit ${limit}
          ) as newest
          order by newest.created_at desc, newest.id desc limit ${limit}
        ) as p
        left join events e on e.payment_id = p.id and e.subject = p.id
        left join deliveries d on d.event_id = e.id
        order by p.created_at desc, p.id desc`;
    },

    /** The newest first. */
    async listDeliveries(
      filter: DeliveryFilter,
      page: { after: Position | null; limit: number },
    ): Promise<DeliveryRow[]> {
      return sql<DeliveryRow[]>`
        select d.event_id as "eventId", d.kind, d.payment_id as "paymentId", d.application, d.test,
          d.order_id as "orderId", d.status, d.created_at as "createdAt", d.round,
          d.next_attempt_at as "nextAttemptAt", coalesce(t.number, 0) as attempts,
          t.response_status as "responseStatus", d.error_class as "errorClass"
        from (${matchingDeliveries(sql, filter, { order: 'newest', ...page })}) as d
        ${joinLastAttempt(sql)}
        order by d.created_at desc, d.event_id desc`;
    },

    /** Payments since then. It reads an index alone, which has no gateway. */
    async countByHour(test: boolean | null, since: Date): Promise<HourCount[]> {
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
    async countByGateway(test: boolean | null, since: Date): Promise<GatewayCount[]> {
      return sql<GatewayCount[]>`
        select p.gateway, p.status, count(*)
        from ${owners({ application: null, test })} cross join lateral (
          select p.gateway, p.status from payments p
          where p.application = o.slug and p.test = o.test and p.created_at >= ${since}
          order by p.created_at desc, p.id desc limit ${comparedMax}
        ) as p
        group by 1, 2`;
    },

    /** Applications with exhausted deliveries, those with the most first. Counts 10,000 deliveries. */
    async countExhausted(): Promise<{ application: string; count: number }[]> {
      return sql<{ application: string; count: number }[]>`
        select d.application, count(*) from (
          select application from deliveries where status = 'exhausted' limit 10000) as d
        group by 1 order by 2 desc, 1 limit 20`;
    },

    /** The oldest payment that is not over. */
    async oldestOpen(): Promise<{ id: string; createdAt: Date; expiresAt: Date } | undefined> {
      const [row] = await sql<{ id: string; createdAt: Date; expiresAt: Date }[]>`
        select id, created_at as "createdAt", expires_at as "expiresAt" from payments
        where status in ('pending', 'processing') order by expires_at limit 1`;
      return row;
    },

    /** The bytes that every attempt of an event sends. */
    async getEvent(
      paymentId: string,
    ): Promise<{ id: string; body: Buffer; webhookUrl: string | null } | undefined> {
      const [row] = await sql<{ id: string; body: Buffer; webhookUrl: string | null }[]>`
        select e.id, e.body, a.webhook_url as "webhookUrl"
        from events e join applications a on a.slug = e.application
        where e.payment_id = ${paymentId} and e.subject = ${paymentId}`;
      return row;
    },

    /** What the application sent along with the payment. */
    async getDetails(
      paymentId: string,
    ): Promise<{ description: string | null; metadata: string } | undefined> {
      const [row] = await sql<{ description: string | null; metadata: string }[]>`
        select description, metadata from payments where id = ${paymentId}`;
      return row;
    },

    /** The payment that an event is about. */
    async findByEvent(eventId: string): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        select payment_id as id from events where id = ${eventId}`;
      return row?.id;
    },

    /** Payments whose order, gateway reference or tracking code is this text, with the kind of the match. */
    async findByText(text: string, limit: number): Promise<(PaymentRow & { found: string })[]> {
      return sql<(PaymentRow & { found: string })[]>`
        select f.found, f.id, f.application, f.test, f.order_id as "orderId", f.status, f.amount,
          f.currency, f.gateway, f.created_at as "createdAt", d.status as delivery
        from (
          (select 'order' as found, p.* from ${owners({ application: null, test: null })}
            cross join lateral (
              select p.* from payments p
              where p.application = o.slug and p.test = o.test and p.order_id = ${text}
              order by p.created_at desc, p.id desc limit ${limit}) as p
            limit ${limit})
          union all
          (select 'gateway reference', p.* from gateways g cross join lateral (
              select p.* from payments p
              where p.gateway = g.slug and p.gateway_reference = ${text}) as p
            limit ${limit})
          union all
          (select 'tracking code', p.* from gateways g cross join lateral (
              select p.* from payments p
              where p.gateway = g.slug and p.tracking_code = ${text}
              order by p.tracking_code limit ${limit}) as p
            limit ${limit})
        ) as f
        left join events e on e.payment_id = f.id and e.subject = f.id
        left join deliveries d on d.event_id = e.id
        order by f.found, f.created_at desc, f.id desc`;
    },

    /** The application of tokens that begin with these characters. */
    async findToken(prefix: string): Promise<{ application: string; name: string; id: string }[]> {
      return sql<{ application: string; name: string; id: string }[]>`
        select application, name, left(encode(hash, 'hex'), 16) as id from tokens
        where prefix = ${prefix} order by application limit 10`;
    },
  };
};
