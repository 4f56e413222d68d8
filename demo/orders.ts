import { DatabaseSync } from 'node:sqlite';
import { type InboxOptions, inboxTables, sqliteQuery } from '../client/src/inbox.ts';
import { type Event, isKnownEvent, type Payment, type Refund } from '../client/src/index.ts';

/** The last delivery of a payment's event. The shop keeps verified ones only. */
export interface ReceivedWebhook {
  receivedAt: string;
  headers: Record<string, string>;
  rawBody: string;
  /** The number of times that the same event arrived. */
  times: number;
}

export interface Order {
  orderId: string;
  paymentId: string;
  status: string;
  amount: number;
  currency: string;
  item: string;
  failureReason: string | null;
  checkoutUrl: string | null;
  /** The money that goes back, over all its refunds, in minor units. */
  refunds: { succeeded: number; pending: number; failed: number };
  createdAt: Date;
  webhook: ReceivedWebhook | undefined;
}

const listedOrders = 200;

/** `changes` counts the events that changed the order. */
const ordersTable = `
create table if not exists orders (
  payment_id text primary key,
  order_id text not null,
  status text not null,
  amount integer not null,
  currency text not null,
  item text not null,
  failure_reason text,
  checkout_url text,
  created_at text not null,
  changes integer not null default 0,
  webhook text
);
create index if not exists orders_by_order on orders (order_id);
create table if not exists refunds (
  refund_id text primary key,
  payment_id text not null,
  amount integer not null,
  status text not null,
  sequence integer not null
);
create index if not exists refunds_by_payment on refunds (payment_id);`;

/** With the sums of its refunds. */
const selectOrders = `
select o.*, ${['succeeded', 'pending', 'failed']
  .map(
    (status) =>
      `(select coalesce(sum(r.amount), 0) from refunds r
        where r.payment_id = o.payment_id and r.status = '${status}') as refunds_${status}`,
  )
  .join()}
from orders o`;

/**
 * The shop's orders, in a file of SQLite. Orders that it does not know, because another program created the payment,
 * come from the event or from the API.
 */
export const createOrders = (path: string) => {
  const database = new DatabaseSync(path);
  database.exec(`pragma journal_mode = wal; ${ordersTable} ${inboxTables}`);
  const listeners = new Set<(version: string) => void>();
  // Differs in each process, so that an open page notices a restart.
  const run = Date.now().toString(36);
  let changes = 0;

  const version = () => `${run}.${changes}`;
  const announce = () => {
    changes += 1;
    for (const listener of listeners) listener(version());
  };
  const all = (sql: string, ...values: string[]): Order[] =>
    database
      .prepare(`${selectOrders} ${sql}`)
      .all(...values)
      .map((row) => toOrder(row as unknown as OrderRow));
  const write = (sql: string, values: Record<string, string | number | null>) =>
    database.prepare(sql).run(values);

  const findByPayment = (paymentId: string): Order | undefined =>
    all('where payment_id = ?', paymentId)[0];
  /** A payment of the first payment's amount pays an order: the shop's token can create others of any amount. */
  const statusOf = ({ order_id, status, amount, currency }: Payment | Event): string => {
    const [order] = all('where order_id = ? order by rowid limit 1', order_id);
    const isWhole = !order || (order.amount === amount && order.currency === currency);
    return status === 'paid' && !isWhole ? 'disputed' : status;
  };
  const insert = (payment: Payment | Event): void => {
    write(
      `insert into orders (payment_id, order_id, status, amount, currency, item, failure_reason, checkout_url, created_at)
       values (:payment_id, :order_id, :status, :amount, :currency, :item, :failure_reason, :checkout_url, :created_at)
       on conflict do nothing`,
      { ...rowOf(payment), status: statusOf(payment) },
    );
  };
  /** Events of a refund can come in another order, and the response to the request for it after them. */
  const setRefund = ({ refund_id, payment_id, amount, status }: RefundState, sequence: number) =>
    write(
      `insert into refunds (refund_id, payment_id, amount, status, sequence)
       values (:refund_id, :payment_id, :amount, :status, :sequence)
       on conflict do update set status = excluded.status, sequence = excluded.sequence
       where excluded.sequence > refunds.sequence`,
      { refund_id, payment_id, amount, status, sequence },
    );
  /** A paid order stays paid, whatever comes. */
  const setOutcome = (event: Event): void => {
    insert(event);
    const { payment_id, failure_reason } = event;
    write(
      `update orders set status = :status, failure_reason = :failure_reason, checkout_url = null
       where payment_id = :payment_id and status <> 'paid'`,
      { payment_id, status: statusOf(event), failure_reason },
    );
  };
  /** The service may have kinds of events that this shop does not know. */
  const change = (event: Event): void => {
    if (!isKnownEvent(event)) return;
    if ('refund_id' in event) setRefund(event, event.sequence);
    else setOutcome(event);
    write('update orders set changes = changes + 1 where payment_id = :payment_id', {
      payment_id: event.payment_id,
    });
  };

  return {
    /** Identifies the current state of all orders. */
    version,

    /** The last 200, newest first. */
    list: (): Order[] => all(`order by rowid desc limit ${listedOrders}`),

    /** The order's paid payment, or else its newest of the order's amount: an order can be tried more than once. */
    find: (orderId: string): Order | undefined =>
      all(
        "where order_id = ? order by status = 'paid' desc, status = 'disputed', rowid desc limit 1",
        orderId,
      )[0],

    findByPayment,

    /** Keeps an order that is known: its webhook can come before this response, and is newer. */
    add(payment: Payment): void {
      insert(payment);
      announce();
    },

    /** For the inbox: an event changes its order in the transaction that stores the event's id. */
    inbox: {
      query: sqliteQuery(database),
      async once(event, isFirst) {
        database.exec('begin immediate');
        try {
          if (await isFirst(sqliteQuery(database))) change(event);
          database.exec('commit');
        } catch (error) {
          database.exec('rollback');
          throw error;
        }
        announce();
      },
    } satisfies Partial<InboxOptions>,

    /** Shows what arrived; nothing depends on it. */
    keepWebhook(
      paymentId: string,
      webhook: Omit<ReceivedWebhook, 'times'>,
      isFirst: boolean,
    ): void {
      const before = isFirst ? 0 : (findByPayment(paymentId)?.webhook?.times ?? 0);
      write('update orders set webhook = :webhook where payment_id = :payment_id', {
        payment_id: paymentId,
        webhook: JSON.stringify({ ...webhook, times: before + 1 }),
      });
      announce();
    },

    /** The money of the order goes back. */
    keepRefund(refund: RefundState): void {
      setRefund(refund, 0);
      announce();
    },

    /** Returns what removes the listener. */
    onChange(listener: (version: string) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
export type Orders = ReturnType<typeof createOrders>;

export const isOpen = ({ status }: Pick<Order, 'status'>): boolean =>
  status === 'pending' || status === 'processing';

/** Whether more of its money can be given back, as far as the shop knows. */
export const canRefund = ({ status, amount, refunds }: Order): boolean =>
  status === 'paid' && refunds.failed === 0 && refunds.succeeded + refunds.pending < amount;

export type RefundState = Pick<Refund, 'refund_id' | 'payment_id' | 'amount' | 'status'>;

interface OrderRow {
  payment_id: string;
  order_id: string;
  status: string;
  amount: number;
  currency: string;
  item: string;
  failure_reason: string | null;
  checkout_url: string | null;
  refunds_succeeded: number;
  refunds_pending: number;
  refunds_failed: number;
  created_at: string;
  webhook: string | null;
}

const rowOf = (payment: Payment | Event) => ({
  payment_id: payment.payment_id,
  order_id: payment.order_id,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  item: typeof payment.metadata['item'] === 'string' ? payment.metadata['item'] : 'An order',
  failure_reason: payment.failure_reason,
  checkout_url: 'checkout_url' in payment ? payment.checkout_url : null,
  created_at: payment.created_at,
});

const toOrder = (row: OrderRow): Order => ({
  orderId: row.order_id,
  paymentId: row.payment_id,
  status: row.status,
  amount: row.amount,
  currency: row.currency,
  item: row.item,
  failureReason: row.failure_reason,
  checkoutUrl: row.checkout_url,
  refunds: {
    succeeded: row.refunds_succeeded,
    pending: row.refunds_pending,
    failed: row.refunds_failed,
  },
  createdAt: new Date(row.created_at),
  webhook: row.webhook === null ? undefined : (JSON.parse(row.webhook) as ReceivedWebhook),
});
