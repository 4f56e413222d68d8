import type { EventKind } from '../../contract/event.ts';
import type { GatewayKind } from '../../contract/gateway-account.ts';
import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import { eventId } from '../../contract/ids.ts';
import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListPayments } from '../../contract/list-payments.ts';
import type { Payment } from '../../contract/payment.ts';
import type { DeliveryStatus } from '../../contract/status.ts';
import type { ReportedFee } from '../../contract/reported-fee.ts';
import { listAttempts } from './events.ts';
import type { AttemptRecord } from '../webhooks/deliveries.ts';
import type { Queries } from '../driver/sql.ts';
import { createGatewayExchanges } from '../gateways/exchanges.ts';
import type { LatePaymentResult } from '../payments/late-payments.ts';
import { conditionsOf, rangeOf } from '../list.ts';
import { isPaidByAnother, isPaidTwice, paidOfSameOrder } from '../orders.ts';
import { selectPayment } from '../payment-columns.ts';

/** What the money of a payment is. */
export interface PaymentMoney {
  gatewayKind: GatewayKind;
  /** It has money, and another payment of its order has some, too: real or fake. */
  paidTwice: boolean;
}

/** A payment in a list for admins. */
export interface PaymentRow extends Payment, PaymentMoney {
  /** Null until the payment has ended. */
  delivery: DeliveryStatus | null;
  /** The class of the error of its last attempt. */
  deliveryError: string | null;
  /** An earlier payment that has paid the same order, if there is one. */
  duplicateOf: string | null;
}

/** Selects payments for a list. Null: all of them. */
export interface PaymentFilter extends Filters<ListPayments> {
  id: string | null;
  application: string | null;
  test: boolean | null;
  failureCode: string | null;
  gateway: string | null;
  orderPrefix: string | null;
  currency: string | null;
  /** In minor units, both ends included. */
  amountFrom: number | null;
  amountTo: number | null;
}

export const everyPayment: PaymentFilter = {
  id: null,
  application: null,
  test: null,
  orderId: null,
  status: null,
  from: null,
  to: null,
  failureCode: null,
  gateway: null,
  orderPrefix: null,
  currency: null,
  amountFrom: null,
  amountTo: null,
};

/** A page of a list, which may end before it has looked at every payment. */
export interface PaymentPage {
  rows: PaymentRow[];
  /** The list has not looked at older payments. Null: it has seen all. */
  searchedBackTo: Date | null;
}

/** A list of one application looks through at most this many payments of each mode. */
const lookedThroughOfOne = 20_000;
const lookedThroughOfMany = 1_000;

/** Everything that is recorded about a payment, for admins only. */
export interface PaymentRecord extends PaymentRow {
  /** Its gateway has this driver. */
  driver: string;
  /** The gateways that may open it, in the order of asking; null: only its own. */
  candidates: string[] | null;
  gatewayReference: string | null;
  /** When the payer was last sent to the gateway. */
  checkoutAt: Date | null;
  gatewayCode: string | null;
  reportedFee: number | null;
  reportedFeePaidBy: ReportedFee['paidBy'] | null;
  gatewayMessage: string | null;
  /** The payment's own event, and its delivery. */
  eventId: string | null;
  eventKind: EventKind | null;
  eventAt: Date | null;
  round: number | null;
  nextAttemptAt: Date | null;
  /** When money was found after the end; null if there was none. */
  latePaymentFoundAt: Date | null;
  /** Null while the late payment is being resolved, like the next field. */
  latePaymentResult: LatePaymentResult | null;
  latePaymentResolvedAt: Date | null;
  /** When a person said that this money was looked after. */
  latePaymentCheckedAt: Date | null;
  /** Since when the payment holds its order. */
  orderClaimedAt: Date | null;
  /** By another payment, as the payer's own page has it. */
  isOrderPaid: boolean;
  attempts: AttemptRecord[];
  /** The last exchanges; of the sweeper's inquiries the last one with each result. */
  exchanges: GatewayExchange[];
}

/** Joins the event that ended the payment `p` as `e`, and its delivery as `d`. */
export const joinOwnDelivery = (sql: Queries) => sql`
  left join events e on e.payment_id = p.id and e.subject = p.id
  left join deliveries d on d.event_id = e.id`;

/** The columns of {@link PaymentMoney}, of `p`. */
export const moneyColumns = (sql: Queries) => sql`
  ${isPaidTwice(sql)} as "paidTwice", (select h.kind from gateways h where h.slug = p.gateway) as "gatewayKind"`;

/** The columns of a {@link PaymentRow}, of `p` and `d`. */
export const rowColumns = (sql: Queries) => sql`
  ${selectPayment(sql)}, d.status as delivery, d.error_class as "deliveryError", ${moneyColumns(sql)},
  (select q.id ${paidOfSameOrder(sql)}
      and (q.paid_at, q.id) < (coalesce(p.paid_at, p.created_at), p.id)
    order by q.paid_at limit 1) as "duplicateOf"`;

/** Each application and mode that a filter admits, as `o`. */
export const ownersOf = (
  sql: Queries,
  { application, test }: Pick<PaymentFilter, 'application' | 'test'>,
) => sql`
  (select a.slug, m.test from applications a cross join (values (true), (false)) as m (test)
    where true ${application === null ? sql`` : sql`and a.slug = ${application}`}
      ${test === null ? sql`` : sql`and m.test = ${test}`}) as o`;

export const createAdminPayments = (sql: Queries) => {
  const columns = rowColumns(sql);
  const ownDelivery = joinOwnDelivery(sql);

  return {
    /**
     * The newest first. For each application and mode it reads the beginning of one range of an index that the API's list
     * has. No index has more than the filters of that list: for the rest it looks through the newest payments of each
     * application and mode, and says how far back it has searched.
     */
    async list(
      { application, test, id, orderId, status, from, to, ...searched }: PaymentFilter,
      { after, limit }: ListPage,
    ): Promise<PaymentPage> {
      const owners = ownersOf(sql, { application, test });
      const matching = sql`
        where p.application = o.slug and p.test = o.test
          ${conditionsOf(
            sql,
            { id, orderId, status },
            {
              id: (only) => sql`p.id = ${only}`,
              orderId: (order) => sql`p.order_id = ${order}`,
              status: (only) => sql`p.status = ${only}`,
            },
          )} ${rangeOf(sql, { from, to }, after, { at: sql`p.created_at`, id: sql`p.id` })}
        order by p.created_at desc, p.id desc`;
      if (Object.values(searched).every((each) => each === null)) {
        const rows = await sql<PaymentRow[]>`
          select ${columns} from (
            select newest.* from ${owners} cross join lateral (
              select p.* from payments p ${matching} limit ${limit}
            ) as newest
            order by newest.created_at desc, newest.id desc limit ${limit}
          ) as p
          ${ownDelivery}
          order by p.created_at desc, p.id desc`;
        return { rows, searchedBackTo: null };
      }
      const isFound = conditionsOf(sql, searched, {
        gateway: (slug) => sql`p.gateway = ${slug}`,
        failureCode: (code) => sql`p.failure_code = ${code}`,
        orderPrefix: (prefix) => sql`starts_with(p.order_id, ${prefix})`,
        currency: (code) => sql`p.currency = ${code}`,
        amountFrom: (amount) => sql`p.amount >= ${amount}`,
        amountTo: (amount) => sql`p.amount <= ${amount}`,
      });
      const lookedThrough = application === null ? lookedThroughOfMany : lookedThroughOfOne;
      const found = await sql<(PaymentRow & { searchedBackTo: Date | null })[]>`
        with newest as materialized (
          select p.* from ${owners} cross join lateral (
            select p.id, p.application, p.test, p.created_at, true ${isFound} as is_found
            from payments p ${matching} limit ${lookedThrough}
          ) as p
        ), looked as (
          select max(oldest) as back_to from (
            select min(created_at) as oldest from newest
            group by application, test having count(*) >= ${lookedThrough}) as each
        )
        select ${columns}, looked.back_to as "searchedBackTo"
        from looked left join lateral (
          select n.id from newest n
          where n.is_found and (looked.back_to is null or n.created_at > looked.back_to)
          order by n.created_at desc, n.id desc limit ${limit}
        ) as n on true
        left join payments p on p.id = n.id
        ${ownDelivery}
        order by p.created_at desc, p.id desc`;
      const searchedBackTo = found[0]?.searchedBackTo ?? null;
      return { rows: found.filter((each) => each.id !== null), searchedBackTo };
    },

    async applicationOf(id: string): Promise<string | undefined> {
      const [row] = await sql<{ application: string }[]>`
        select application from payments where id = ${id}`;
      return row?.application;
    },

    async get(id: string): Promise<PaymentRecord | undefined> {
      const [row] = await sql<Omit<PaymentRecord, 'attempts' | 'exchanges'>[]>`
        select ${columns},
          (select g.driver from gateways g where g.slug = p.gateway) as driver,
          p.candidates, p.gateway_reference as "gatewayReference", p.checkout_at as "checkoutAt",
          p.gateway_code as "gatewayCode", p.reported_fee as "reportedFee", p.reported_fee_paid_by as "reportedFeePaidBy",
          p.gateway_message as "gatewayMessage", e.id as "eventId", e.kind as "eventKind",
          e.created_at as "eventAt", d.round, d.next_attempt_at as "nextAttemptAt",
          l.found_at as "latePaymentFoundAt", l.result as "latePaymentResult",
          l.resolved_at as "latePaymentResolvedAt", l.checked_at as "latePaymentCheckedAt",
          p.order_claimed_at as "orderClaimedAt", ${isPaidByAnother(sql)} as "isOrderPaid"
        from payments p
        ${ownDelivery}
        left join late_payments l on l.payment_id = p.id
        where p.id = ${id}`;
      if (!row) return undefined;
      const exchanges = await createGatewayExchanges(sql).list(id);
      return { ...row, attempts: await listAttempts(sql, eventId(id)), exchanges };
    },
  };
};
