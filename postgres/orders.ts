import type { Payment, WorkflowStart } from '../contract/payment.ts';
import { workflowStartFields } from '../contract/payment.ts';
import { changesOne, type Fragment, type Queries } from './driver/sql.ts';
import { selectPayment } from './payment-columns.ts';

/*
 * One paid payment for an order, for applications that want it (`applications.orders_paid_once`) and for links. The order is
 * (application, test, order_id). A payment holds it by `order_claimed_at`: while its money is taken, then while it is
 * paid and some of its money is left. Each fragment says which tables of its statement it needs: a payment `p`, its
 * application `a` and its gateway `g`, or another payment `q` and its gateway `h`.
 */

/** Needs `p`, `a` and `g`. Fake money of a live token neither holds an order nor blocks one: whoever has the link pays it. */
export const takesPart = (sql: Queries): Fragment =>
  sql`((a.orders_paid_once or p.link_id is not null) and (p.test or g.kind = 'live'))`;

/** Needs `p` and `q`. */
const isOfSameOrder = (sql: Queries): Fragment => sql`
  q.application = p.application and q.test = p.test and q.order_id = p.order_id and q.id <> p.id`;

/** Refunds and lost chargebacks leave some of the money of a payment. An open chargeback may still be won. */
const isLeft = (sql: Queries, amount: Fragment, refunded: Fragment, lost: Fragment): Fragment =>
  sql`${refunded} + ${lost} < ${amount}`;

/** Needs `q`. It is paid, with real money or fake, and not all of it has gone back. */
export const hasMoney = (sql: Queries): Fragment => sql`
  q.status = 'paid' and ${isLeft(sql, sql`q.amount`, sql`q.amount_refunded`, sql`q.amount_lost`)}`;

/** Needs `q` and `h`. The payment `q` has paid its order, whether it has claimed it or not. */
export const hasPaid = (sql: Queries): Fragment => sql`
  ${hasMoney(sql)} and (q.test or h.kind = 'live')`;

/** Needs `p`: the claim of a payment whose sums change. Who has all of the money back may pay the order again. */
export const claimKept = (
  sql: Queries,
  { refunded = sql`p.amount_refunded`, lost = sql`p.amount_lost` },
): Fragment =>
  sql`case when ${isLeft(sql, sql`p.amount`, refunded, lost)} then p.order_claimed_at end`;

/** Needs `p`: the payments `q` that have paid its order. */
export const paidOfSameOrder = (sql: Queries): Fragment => sql`
  from payments q join gateways h on h.slug = q.gateway where ${isOfSameOrder(sql)} and ${hasPaid(sql)}`;

/** Needs `p`. */
export const isPaidByAnother = (sql: Queries): Fragment =>
  sql`exists (select ${paidOfSameOrder(sql)})`;

/** Needs `p`. Another payment of its order has money, real or fake. */
export const hasMoneyOfAnother = (sql: Queries): Fragment =>
  sql`exists (select from payments q where ${isOfSameOrder(sql)} and ${hasMoney(sql)})`;

/** Needs `p`. It has money, and another payment of its order has some, too. */
export const isPaidTwice = (sql: Queries): Fragment => sql`(
  p.status = 'paid' and ${isLeft(sql, sql`p.amount`, sql`p.amount_refunded`, sql`p.amount_lost`)}
    and ${hasMoneyOfAnother(sql)})`;

/**
 * Shows admins the order of a payment that is paid now, or gets back what a chargeback has taken, if another payment has
 * paid it, too. The sums of the payment are written later.
 */
export const markPaidTwice = (sql: Queries, id: string): Fragment => sql`
  update payments p set paid_twice_at = now()
  where p.id = ${id} and p.status = 'paid' and p.paid_twice_at is null and ${hasMoneyOfAnother(sql)}`;

/** Needs `p`. */
const isHeldByAnother = (sql: Queries): Fragment => sql`exists (
  select from payments q where ${isOfSameOrder(sql)} and q.order_claimed_at is not null)`;

/** Needs `p`, `a` and `g`. The payment takes no part, or no other one has the order. */
export const mayHoldOrder = (sql: Queries): Fragment =>
  sql`not (${takesPart(sql)} and (${isHeldByAnother(sql)} or ${isPaidByAnother(sql)}))`;

/** Needs `p`, `a` and `g`: the claim of a payment that holds its order from now on, or held it before. */
export const claimedAt = (sql: Queries): Fragment =>
  sql`case when ${takesPart(sql)} then coalesce(p.order_claimed_at, now()) end`;

/** Another payment that has paid the order, as `id`. */
export const selectPaidOfOrder = (
  sql: Queries,
  { application, test, orderId, id }: Pick<Payment, 'application' | 'test' | 'orderId' | 'id'>,
): Fragment => sql`
  select q.id from payments q join gateways h on h.slug = q.gateway
  where q.application = ${application} and q.test = ${test} and q.order_id = ${orderId} and q.id <> ${id}
    and ${hasPaid(sql)}
  order by q.paid_at, q.id limit 1`;

const mostOthers = 100;

/** The open payments of an order beside the one that has paid it. */
export const selectOpenOfOrder = (
  sql: Queries,
  { application, test, orderId, id }: Pick<Payment, 'application' | 'test' | 'orderId' | 'id'>,
): Fragment => sql`
  select ${selectPayment(sql, workflowStartFields)} from payments p
  where p.application = ${application} and p.test = ${test} and p.order_id = ${orderId}
    and p.status in ('pending', 'processing') and p.id <> ${id}
  limit ${mostOthers}`;

/** The error of the second of two claims at once, which waits for the first in the index. */
const isTaken = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'constraint_name' in error &&
  error.constraint_name === 'payments__order';

/** Runs a statement that claims an order, again if another payment has claimed that at once: now it sees the other one. */
export const claiming = async (statement: () => Promise<boolean>): Promise<boolean> => {
  try {
    return await statement();
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
  return statement();
};

/** After it a payment that wants the order takes over the claim of an open one, whose money is late money from then on. */
const claimedFor = '1 day';
/** An admin may do so after this, which is longer than any call to a gateway. */
const callsTake = '2 minutes';

/**
 * Takes the order from an open payment that has held it for too long, for an open one that wants it.
 * @returns whether somebody has lost it
 */
export const takeOver = async (sql: Queries, id: string): Promise<boolean> => {
  const { count } = await sql`
    update payments q set order_claimed_at = null from payments p
    where p.id = ${id} and p.status in ('pending', 'processing') and ${isOfSameOrder(sql)}
      and q.status in ('pending', 'processing') and q.order_claimed_at < now() - ${claimedFor}::interval`;
  return count > 0;
};

export const createOrders = (sql: Queries) => {
  const claimOnce = (id: string): Promise<boolean> =>
    claiming(() =>
      changesOne(sql`
        update payments p set order_claimed_at = ${claimedAt(sql)}
        from applications a, gateways g
        where p.id = ${id} and p.status in ('pending', 'processing') and a.slug = p.application and g.slug = p.gateway
          and ${mayHoldOrder(sql)}`),
    );

  return {
    /**
     * Claims the order for an open payment, before its gateway takes the money. Also true for a payment that has it, or
     * that takes no part.
     * @returns false if another payment has the order, or this one has ended
     */
    async claim(id: string): Promise<boolean> {
      return (await claimOnce(id)) || ((await takeOver(sql, id)) && claimOnce(id));
    },

    /**
     * Takes the order from an open payment, for an admin.
     * @returns false if it holds none, or if a call to its gateway may still be running
     */
    release: (id: string) =>
      changesOne(sql`
        update payments set order_claimed_at = null
        where id = ${id} and status in ('pending', 'processing') and order_claimed_at < now() - ${callsTake}::interval`),

    /** The open payments beside a paid one. */
    async listOpen(paid: Payment): Promise<WorkflowStart[]> {
      return sql<WorkflowStart[]>`${selectOpenOfOrder(sql, paid)}`;
    },
  };
};
export type Orders = ReturnType<typeof createOrders>;
