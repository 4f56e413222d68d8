import type { Payment } from '../../contract/payment.ts';
import { statuses } from '../../contract/status.ts';
import type { Queries } from '../driver/sql.ts';
import { hasMoney, hasPaid, isPaidTwice } from '../orders.ts';
import { selectPayment } from '../payment-columns.ts';
import { moneyColumns, type PaymentMoney } from './payments.ts';

/** An order is one of an application and a mode. */
export type OrderKey = Pick<Payment, 'application' | 'test' | 'orderId'>;

/** A payment of an order. */
export interface OrderPaymentRow extends Payment, PaymentMoney {
  /** Since when it holds the order. */
  orderClaimedAt: Date | null;
  /** It has paid the order, whether it has claimed it or not: no other payment may. */
  hasPaid: boolean;
  /** When it was found that another one is paid, too, which nobody has looked after. */
  paidTwiceAt: Date | null;
}

/** An order of which several payments have money. */
export interface OrderPaidTwice extends OrderKey {
  since: Date;
  payments: number;
  /** Those of them that are at live gateways. */
  live: number;
}

/** A page of an order has at most so many payments, and a list counts no more of them. */
export const orderPaymentsMax = 100;

/**
 * Orders of which several payments have money, and which nobody has looked after: those that were found last. A mark stays
 * where the money has gone back, so it counts only with money.
 */
export const paidTwice = (sql: Queries, test: boolean, limit: number) => sql`
  select o.application, o.test, o.order_id as "orderId", o.since, m.payments, m.live
  from (
    select p.application, p.test, p.order_id, max(p.paid_twice_at) as since
    from (
      select p.application, p.test, p.order_id, p.paid_twice_at from payments p
      where p.paid_twice_at is not null and p.test = ${test} and ${isPaidTwice(sql)}
      order by p.paid_twice_at desc limit ${limit}
    ) as p group by 1, 2, 3
  ) as o cross join lateral (
    select count(*)::int as payments, (count(*) filter (where q.kind = 'live'))::int as live
    from (
      select h.kind from payments q join gateways h on h.slug = q.gateway
      where q.application = o.application and q.test = o.test and q.order_id = o.order_id and ${hasMoney(sql)}
      limit ${orderPaymentsMax}
    ) as q
  ) as m`;

export const createAdminOrders = (sql: Queries) => ({
  /** Its payments: who holds it first, then the paid ones, then the newest. */
  async list({ application, test, orderId }: OrderKey, limit: number): Promise<OrderPaymentRow[]> {
    const order = sql`order by p.order_claimed_at is null, p.status <> 'paid', p.created_at desc, p.id desc`;
    return sql<OrderPaymentRow[]>`
      select ${selectPayment(sql)}, ${moneyColumns(sql)}, p.order_claimed_at as "orderClaimedAt", p.paid_twice_at as "paidTwiceAt",
        (select ${hasPaid(sql)} from payments q join gateways h on h.slug = q.gateway where q.id = p.id) as "hasPaid"
      from (
        select p.* from unnest(${[...statuses]}::text[]) as s (status) cross join lateral (
          select p.* from payments p
          where p.application = ${application} and p.test = ${test} and p.order_id = ${orderId} and p.status = s.status
          order by p.created_at desc, p.id desc limit ${limit}
        ) as p ${order} limit ${limit}
      ) as p ${order}`;
  },

  async listPaidTwice(test: boolean, limit: number): Promise<OrderPaidTwice[]> {
    return sql<OrderPaidTwice[]>`${paidTwice(sql, test, limit)} order by o.since desc`;
  },

  /**
   * Records that a person has looked after an order that was paid more than once.
   * @returns its payments that were marked so
   */
  async check({ application, test, orderId }: OrderKey): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      update payments set paid_twice_at = null
      where application = ${application} and test = ${test} and order_id = ${orderId}
        and status = 'paid' and paid_twice_at is not null
      returning id`;
    return rows.map(({ id }) => id);
  },
});
