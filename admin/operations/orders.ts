import type { GatewayKind } from '../../contract/gateway-account.ts';
import { amountLeft } from '../../contract/payment-fields.ts';
import {
  createAdminOrders,
  type OrderKey,
  type OrderPaidTwice,
  type OrderPaymentRow,
  orderPaymentsMax,
} from '../../postgres/admin/orders.ts';
import { createAdminDisputes, type DisputeRecord } from '../../postgres/admin/disputes.ts';
import { createAdminLinks, everyLink } from '../../postgres/admin/links.ts';
import type { OverRule } from '../../postgres/admin/refunds.ts';
import { findApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';
import type { createRefundOperations } from './refunds.ts';

/** Sums of the paid payments of an order: in one currency, of real money or of fake. In minor units. */
export interface OrderSum {
  currency: string;
  gatewayKind: GatewayKind;
  paid: number;
  refunded: number;
  refundPending: number;
  disputed: number;
  left: number;
}

export interface OrderDetails extends OrderKey {
  /** The holder comes first, then the paid ones, then the newest. */
  payments: OrderPaymentRow[];
  /** It has more payments than these. */
  isCut: boolean;
  /** The application wants one paid payment for an order. */
  isPaidOnce: boolean;
  sums: OrderSum[];
}

/** A refund of all that is left of a payment. */
export interface OrderRefund {
  payment: OrderPaymentRow;
  amount: number;
  /** Why the gateway cannot give it back; null: it can. */
  problem: string | null;
  /** Why another admin will have to confirm it; undefined: none has to. */
  overRule: OverRule | undefined;
}

const disputesMax = 50;

/** In one currency each, of real money and of fake. Tests are one kind. */
export const sumsOf = (payments: readonly OrderPaymentRow[]): OrderSum[] => {
  const paid = payments.filter(({ status }) => status === 'paid');
  const groups = Map.groupBy(
    paid,
    ({ currency, test, gatewayKind }) => `${test ? 'test' : gatewayKind} ${currency}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [one] = group;
    const sum = (amountOf: (payment: OrderPaymentRow) => number) =>
      group.reduce((total, payment) => total + amountOf(payment), 0);
    return one === undefined
      ? []
      : [
          {
            currency: one.currency,
            gatewayKind: one.gatewayKind,
            paid: sum(({ amount }) => amount),
            refunded: sum(({ amountRefunded }) => amountRefunded),
            refundPending: sum(({ amountRefundPending }) => amountRefundPending),
            disputed: sum(({ amountDisputed }) => amountDisputed),
            left: sum(amountLeft),
          },
        ];
  });
};

/** Says what a person has seen of the refunds, so that nothing else goes back. */
export const markOfRefunds = (planned: readonly OrderRefund[]): string =>
  planned
    .map(({ payment, amount, problem }) => `${payment.id}:${problem === null ? amount : 0}`)
    .join(' ');

/** The payments of an order together. */
export const createOrderOperations = (
  { sql, change }: Pick<Deps, 'sql' | 'change'>,
  refunds: Pick<ReturnType<typeof createRefundOperations>, 'create' | 'findProblem' | 'overRule'>,
) => {
  const orders = createAdminOrders(sql);

  const hasLink = async (key: OrderKey): Promise<boolean> =>
    (await createAdminLinks(sql).list({ ...everyLink, ...key }, { after: null, limit: 1 })).length >
    0;

  /** @throws NotFound unless there is a payment or a link of it */
  const get = async ({ application, test, orderId }: OrderKey): Promise<OrderDetails> => {
    const key = { application, test, orderId };
    const { ordersPaidOnce } = await findApplication(sql, application);
    const found = await orders.list(key, orderPaymentsMax + 1);
    if (found.length === 0 && !(await hasLink(key)))
      throw new NotFound(`${application} has no payment of the order “${orderId}” in this mode.`);
    const payments = found.slice(0, orderPaymentsMax);
    const isCut = found.length > payments.length;
    return { ...key, payments, isCut, isPaidOnce: ordersPaidOnce, sums: sumsOf(payments) };
  };

  /**
   * The refunds of all that is left of its payments, in the order in which they are asked for.
   * @throws Refusal
   */
  const planRefunds = async ({ payments, isCut }: OrderDetails): Promise<OrderRefund[]> => {
    if (isCut)
      throw new Refusal(
        `The order has more than ${orderPaymentsMax} payments: give money back on the page of each.`,
      );
    const planned: OrderRefund[] = [];
    const askedFor = new Map<string, number>();
    for (const payment of payments) {
      const { id, currency } = payment;
      const amount = amountLeft(payment);
      if (amount === 0) continue;
      const earlier = askedFor.get(currency) ?? 0;
      const problem = await refunds.findProblem(id, { amount, recorded: false });
      const overRule = problem === null ? await refunds.overRule(id, amount, earlier) : undefined;
      planned.push({ payment, amount, problem, overRule });
      if (problem === null) askedFor.set(currency, earlier + amount);
    }
    return planned;
  };

  return {
    get,
    planRefunds,

    listPaidTwice: (test: boolean, limit: number): Promise<OrderPaidTwice[]> =>
      orders.listPaidTwice(test, limit),

    /** The newest disputes of its payments. */
    disputes: ({ payments }: OrderDetails): Promise<DisputeRecord[]> =>
      createAdminDisputes(sql).listOfPayments(
        payments.map(({ id }) => id),
        disputesMax,
      ),

    /**
     * Asks for all that is left of its payments, by a refund of each. Another admin confirms those above the rule first.
     * @param options.seen the {@link markOfRefunds} that the admin has signed for
     * @throws Refusal also if some were asked for, and says so
     */
    async refundAll(
      key: OrderKey,
      { reason, seen }: { reason: string; seen: string },
    ): Promise<{ asked: number; toConfirm: number }> {
      const planned = await planRefunds(await get(key));
      if (markOfRefunds(planned) !== seen)
        throw new Refusal(
          'The payments of the order have changed meanwhile. Nothing was given back: look at them again.',
        );
      const possible = planned.filter(({ problem }) => problem === null);
      let [asked, toConfirm] = [0, 0];
      for (const { payment, amount } of possible) {
        try {
          const made = await refunds.create(payment.id, { amount, reason, recorded: false });
          asked += 1;
          if (made.toConfirm) toConfirm += 1;
        } catch (error) {
          if (!(error instanceof Refusal) || asked === 0) throw error;
          throw new Refusal(
            `${asked} of ${possible.length} refunds were asked for, then one was refused. ${error.message}`,
          );
        }
      }
      return { asked, toConfirm };
    },

    /** Records that a person has looked after an order that was paid more than once. @throws Refusal */
    async check(key: OrderKey, reason: string): Promise<void> {
      const { payments, application, test, orderId } = await get(key);
      const marked = payments.find(({ paidTwiceAt }) => paidTwiceAt !== null);
      const refusal = new Refusal('The order does not wait for a person.');
      if (!marked) throw refusal;
      const subject = `payment:${marked.id}`;
      await change({ action: 'payment.order_checked', subject, reason }, async (tx) => {
        const checked = await createAdminOrders(tx).check(key);
        if (checked.length === 0) throw refusal;
        const after = { application, test, order_id: orderId, payments: checked };
        return { before: null, after };
      });
    },
  };
};
