import type { ListPosition } from '../contract/list.ts';
import type { Payment } from '../contract/payment.ts';
import { type DeliveryStatus, type Status, statuses } from '../contract/status.ts';
import { joinOwnDelivery } from './admin-payments.ts';
import type { Queries } from './driver/sql.ts';
import { selectPayment } from './payment-columns.ts';

/** The columns of a payment in a list. */
export const paymentRowFields = [
  'id',
  'application',
  'test',
  'orderId',
  'status',
  'amount',
  'currency',
  'gateway',
  'failureCode',
  'createdAt',
] as const;

/** A row of the console's list of payments. */
export interface PaymentRow extends Pick<Payment, (typeof paymentRowFields)[number]> {
  delivery: DeliveryStatus | null;
}

export interface ListFilter {
  application: string | null;
  test: boolean | null;
  from: Date | null;
  to: Date | null;
  after: ListPosition | null;
  limit: number;
}

export interface PaymentListFilter extends ListFilter {
  status: Status | null;
  failureCode: string | null;
  gateway: string | null;
  orderPrefix: string | null;
  /** In minor units, both ends included. */
  amountFrom: number | null;
  amountTo: number | null;
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

  const row = sql`${selectPayment(sql, paymentRowFields)}, d.status as delivery`;
  const ownDelivery = joinOwnDelivery(sql);

  /** The conditions for payments of one application and mode `o`, and their order. */
  const matching = ({ from, to, after, status }: PaymentListFilter) => sql`
    where p.application = o.slug and p.test = o.test
      ${status === null ? sql`` : sql`and p.status = ${status}`}
      ${from === null ? sql`` : sql`and p.created_at >= ${from}`}
      ${to === null ? sql`` : sql`and p.created_at < ${to}`}
      ${after === null ? sql`` : sql`and (p.created_at, p.id) < (${after.at}, ${after.id})`}
    order by p.created_at desc, p.id desc`;

  const isSearch = (filter: PaymentListFilter): boolean =>
    [
      filter.gateway,
      filter.failureCode,
      filter.orderPrefix,
      filter.amountFrom,
      filter.amountTo,
    ].some((each) => each !== null);

  /** The conditions that no index has, on a payment `n`. */
  const searched = (filter: PaymentListFilter) => {
    const { gateway, failureCode, orderPrefix, amountFrom, amountTo } = filter;
    return sql`true
      ${gateway === null ? sql`` : sql`and n.gateway = ${gateway}`}
      ${failureCode === null ? sql`` : sql`and n.failure_code = ${failureCode}`}
      ${orderPrefix === null ? sql`` : sql`and starts_with(n.order_id, ${orderPrefix})`}
      ${amountFrom === null ? sql`` : sql`and n.amount >= ${amountFrom}`}
      ${amountTo === null ? sql`` : sql`and n.amount <= ${amountTo}`}`;
  };

  return {
    /**
     * The newest first. No index has more than the application, the mode, the status and the time: for the rest of a
     * filter it looks through the newest payments of each application and mode, and says how far back it has searched.
     */
    async listPayments(
      filter: PaymentListFilter,
    ): Promise<{ rows: PaymentRow[]; searchedBackTo: Date | null }> {
      const { limit } = filter;
      if (!isSearch(filter)) {
        const rows = await sql<PaymentRow[]>`
          select ${row} from (
            select newest.* from ${owners(filter)} cross join lateral (
              select p.* from payments p ${matching(filter)} limit ${limit}
            ) as newest
            order by newest.created_at desc, newest.id desc limit ${limit}
          ) as p
          ${ownDelivery}
          order by p.created_at desc, p.id desc`;
        return { rows, searchedBackTo: null };
      }
      const lookedThrough = filter.application === null ? lookedThroughOfMany : lookedThroughOfOne;
      const found = await sql<(PaymentRow & { searchedBackTo: Date | null })[]>`
        with newest as materialized (
          select p.* from ${owners(filter)} cross join lateral (
            select p.id, p.application, p.test, p.order_id, p.status, p.amount, p.currency,
              p.gateway, p.failure_code, p.created_at
            from payments p ${matching(filter)} limit ${lookedThrough}
          ) as p
        ), looked as (
          select max(oldest) as back_to from (
            select min(created_at) as oldest from newest
            group by application, test having count(*) >= ${lookedThrough}) as each
        )
        select ${row}, looked.back_to as "searchedBackTo"
        from looked left join lateral (
          select n.* from newest n
          where ${searched(filter)} and (looked.back_to is null or n.created_at > looked.back_to)
          order by n.created_at desc, n.id desc limit ${limit}
        ) as p on true
        ${ownDelivery}
        order by p.created_at desc, p.id desc`;
      const searchedBackTo = found[0]?.searchedBackTo ?? null;
      return { rows: found.filter(({ id }) => id !== null), searchedBackTo };
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

    /** The payment that has been open for the longest time. */
    async oldestOpen(test: boolean | null): Promise<{ id: string; createdAt: Date } | undefined> {
      const [oldest] = await sql<{ id: string; createdAt: Date }[]>`
        select p.id, p.created_at as "createdAt"
        from ${owners({ application: null, test })}
        cross join (values ('pending'), ('processing')) as s (status)
        cross join lateral (
          select p.id, p.created_at from payments p
          where p.application = o.slug and p.test = o.test and p.status = s.status
          order by p.created_at, p.id limit 1
        ) as p
        order by p.created_at limit 1`;
      return oldest;
    },

    /** What the application sent along with the payment. */
    async getDetails(
      paymentId: string,
    ): Promise<{ description: string | null; metadata: string } | undefined> {
      const [details] = await sql<{ description: string | null; metadata: string }[]>`
        select description, metadata from payments where id = ${paymentId}`;
      return details;
    },

    /** The payment that an event is about. */
    async findByEvent(
      eventId: string,
    ): Promise<{ paymentId: string; application: string } | undefined> {
      const [event] = await sql<{ paymentId: string; application: string }[]>`
        select e.payment_id as "paymentId", p.application
        from events e join payments p on p.id = e.payment_id where e.id = ${eventId}`;
      return event;
    },

    /**
     * Payments whose order, gateway reference or tracking code is this text, with the kind of the match.
     * @param applications null: of all
     */
    async findByText(
      text: string,
      applications: readonly string[] | null,
      limit: number,
    ): Promise<(PaymentRow & { found: string })[]> {
      const isVisible =
        applications === null ? sql`true` : sql`p.application = any(${applications as string[]})`;
      return sql<(PaymentRow & { found: string })[]>`
        select ${row}, p.found from (
          (select 'order' as found, p.* from ${owners({ application: null, test: null })}
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
