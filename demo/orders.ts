import type { Event, Payment } from '../client/src/index.ts';

/** The last delivery of a payment's event. The shop keeps verified ones only. */
export interface ReceivedWebhook {
  receivedAt: Date;
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
  /** The state of its refund; null: the money was not given back. */
  refund: string | null;
  createdAt: Date;
  webhook: ReceivedWebhook | undefined;
}

const maxOrders = 200;
const maxEventIds = 1000;

/**
 * The shop's memory of its last 200 orders. Orders that it does not know, after a restart or because
 * another program created the payment, come from the webhook or from the API.
 */
export const createOrders = () => {
  const byPayment = new Map<string, Order>();
  const eventIds = new Set<string>();
  const listeners = new Set<(version: string) => void>();
  // Differs in each process, so that an open page notices a restart.
  const run = Date.now().toString(36);
  let changes = 0;

  const version = () => `${run}.${changes}`;
  const announce = () => {
    dropOldest(byPayment, maxOrders);
    changes += 1;
    for (const listener of listeners) listener(version());
  };
  const save = (order: Order): Order => {
    byPayment.set(order.paymentId, order);
    announce();
    return order;
  };

  return {
    /** Identifies the current state of all orders. */
    version,

    /** Newest first. */
    list: (): Order[] => [...byPayment.values()].toReversed(),

    /** The order's paid payment, or else its newest: an order can be tried more than once. */
    find(orderId: string): Order | undefined {
      const all = [...byPayment.values()].filter((order) => order.orderId === orderId);
      return all.find(({ status }) => status === 'paid') ?? all.at(-1);
    },

    findByPayment: (paymentId: string): Order | undefined => byPayment.get(paymentId),

    /** Keeps an order that is known: its webhook can come before this response, and is newer. */
    add: (payment: Payment): Order =>
      byPayment.get(payment.payment_id) ?? save(toOrder(payment, new Date(payment.created_at))),

    /** Adds the payments of before this process, newest first, below the orders it has seen since. */
    load(payments: readonly Payment[]): void {
      const since = [...byPayment];
      byPayment.clear();
      for (const payment of payments.toReversed())
        byPayment.set(payment.payment_id, toOrder(payment, new Date(payment.created_at)));
      for (const [id, order] of since) {
        byPayment.delete(id);
        byPayment.set(id, order);
      }
      announce();
    },

    /** Acts once per event, however often it is delivered. */
    receive(event: Event, webhook: Omit<ReceivedWebhook, 'times'>): Order {
      const known = byPayment.get(event.payment_id);
      if (known && eventIds.has(event.event_id))
        return save({ ...known, webhook: { ...webhook, times: 1 + (known.webhook?.times ?? 0) } });
      eventIds.add(event.event_id);
      dropOldest(eventIds, maxEventIds);
      // The amount that was paid must be the amount that was ordered.
      const isDisputed =
        known && (known.amount !== event.amount || known.currency !== event.currency);
      return save({
        ...(known ?? toOrder(event, webhook.receivedAt)),
        status: isDisputed ? 'disputed' : event.status,
        failureReason: event.failure_reason,
        checkoutUrl: null,
        webhook: { ...webhook, times: 1 },
      });
    },

    /** The money of the order goes back, or has come back. The order stays paid. */
    receiveRefund({ payment_id: id, status }: Pick<Event, 'payment_id' | 'status'>): void {
      const known = byPayment.get(id);
      // The event can be faster than the response to the request for the refund.
      if (known && !(status === 'pending' && known.refund !== null))
        save({ ...known, refund: status });
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

const toOrder = (payment: Payment | Event, createdAt: Date): Order => ({
  orderId: payment.order_id,
  paymentId: payment.payment_id,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  item: typeof payment.metadata['item'] === 'string' ? payment.metadata['item'] : 'An order',
  failureReason: payment.failure_reason,
  checkoutUrl: 'checkout_url' in payment ? payment.checkout_url : null,
  refund: 'amount_refunded' in payment && payment.amount_refunded > 0 ? 'succeeded' : null,
  createdAt,
  webhook: undefined,
});

const dropOldest = (entries: Map<string, unknown> | Set<string>, max: number) => {
  for (const key of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(key);
  }
};
