import type { Payment } from './payments-client.ts';

/** One delivery of the payment's event, as it came; only verified ones are kept. */
export interface ReceivedWebhook {
  receivedAt: Date;
  headers: Record<string, string>;
  rawBody: string;
  /** How often the same event came; repeats change nothing but what is shown here. */
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
  createdAt: Date;
  webhook: ReceivedWebhook | undefined;
}

/** The fields of an event that concern an order. */
export interface OrderEvent extends Omit<Payment, 'checkout_url' | 'created_at'> {
  event_id: string;
}

const maxOrders = 200;
const maxEventIds = 1000;

/**
 * The shop's memory. It holds the last 200 orders; what it does not know (after a restart, or
 * because another program created the payment) it learns from the webhook or the API.
 */
export const createOrders = () => {
  const byPaymentId = new Map<string, Order>();
  const eventIds = new Set<string>();
  const listeners = new Set<(version: string) => void>();
  // Begins anew with each process, so that an open page notices a restart too.
  const run = Date.now().toString(36);
  let changes = 0;

  const version = () => `${run}.${changes}`;
  const changed = () => {
    dropOldest(byPaymentId, maxOrders);
    changes += 1;
    for (const listener of listeners) listener(version());
  };
  const keep = (order: Order): Order => {
    byPaymentId.set(order.paymentId, order);
    changed();
    return order;
  };

  return {
    /** Names the present state of all orders. */
    version,

    /** Newest first. */
    list: (): Order[] => [...byPaymentId.values()].toReversed(),

    /** The newest with this number, which may have been tried more than once; what is paid stays so. */
    find(orderId: string): Order | undefined {
      const all = [...byPaymentId.values()].filter((order) => order.orderId === orderId);
      return all.find(({ status }) => status === 'paid') ?? all.at(-1);
    },

    ofPayment: (paymentId: string): Order | undefined => byPaymentId.get(paymentId),

    /** What is known stays: its webhook may have come before this answer, and knows more. */
    add: (payment: Payment): Order =>
      byPaymentId.get(payment.payment_id) ?? keep(orderOf(payment, new Date(payment.created_at))),

    /** What was there before this process, newest first: below what it has seen since. */
    recall(payments: readonly Payment[]): void {
      const since = [...byPaymentId];
      byPaymentId.clear();
      for (const payment of payments.toReversed())
        byPaymentId.set(payment.payment_id, orderOf(payment, new Date(payment.created_at)));
      for (const [id, order] of since) {
        byPaymentId.delete(id);
        byPaymentId.set(id, order);
      }
      changed();
    },

    /** Acts once per event, however often it is delivered. */
    receive(event: OrderEvent, webhook: Omit<ReceivedWebhook, 'times'>): Order {
      const known = byPaymentId.get(event.payment_id);
      const isRepeat = eventIds.has(event.event_id);
      if (known && isRepeat)
        return keep({ ...known, webhook: { ...webhook, times: 1 + (known.webhook?.times ?? 0) } });
      eventIds.add(event.event_id);
      dropOldest(eventIds, maxEventIds);
      return keep({
        ...(known ?? orderOf({ ...event, checkout_url: null }, webhook.receivedAt)),
        // What was paid for must be what was ordered; our own record says what that is.
        status: !known || isSameMoney(known, event) ? event.status : 'disputed',
        failureReason: event.failure_reason,
        checkoutUrl: null,
        webhook: { ...webhook, times: 1 },
      });
    },

    /** Returns what ends the listening. */
    onChange(listener: (version: string) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
export type Orders = ReturnType<typeof createOrders>;

export const isOpen = ({ status }: Pick<Order, 'status'>): boolean =>
  status === 'pending' || status === 'processing';

const isSameMoney = (order: Order, event: OrderEvent) =>
  order.amount === event.amount && order.currency === event.currency;

const orderOf = (payment: Omit<Payment, 'created_at'>, createdAt: Date): Order => ({
  orderId: payment.order_id,
  paymentId: payment.payment_id,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  item: typeof payment.metadata['item'] === 'string' ? payment.metadata['item'] : 'An order',
  failureReason: payment.failure_reason,
  checkoutUrl: payment.checkout_url,
  createdAt,
  webhook: undefined,
});

const dropOldest = (kept: Map<string, unknown> | Set<string>, max: number) => {
  for (const key of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(key);
  }
};
