import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../postgres/driver/sql.ts';
import type { Evidence, Violation } from './evidence.ts';

const lookEveryMs = 500;

/**
 * Looks all the time for orders of which two payments are paid and not given back in full: at the end one of them may have
 * been given back.
 */
export const watchOrders = (sql: Sql) => {
  const found = new Set<string>();
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      // Postgres is killed meanwhile, too.
      const rows = await findPaidTwice(sql).catch(() => []);
      for (const { orderId } of rows) found.add(orderId);
      await sleep(lookEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    /** @returns the orders that were paid twice */
    async stop(): Promise<ReadonlySet<string>> {
      stopping.abort();
      await watching;
      return found;
    },
  };
};

const findPaidTwice = (sql: Sql): Promise<{ orderId: string }[]> => sql<{ orderId: string }[]>`
  select order_id as "orderId" from payments where status = 'paid' and amount_refunded + amount_lost < amount
  group by order_id having count(*) > 1`;

/** Finds orders that are paid twice, and payments that lost their order to nobody. */
export const findOrderProblems = ({ payments, refused = [], records }: Evidence): Violation[] => {
  const ofOrder = Map.groupBy(payments, ({ orderId }) => orderId);
  const hasPaid = (id: string) => records.shown.get(id)?.status === 'paid';
  const isKept = (id: string, amount: number) =>
    hasPaid(id) && (records.sums.get(id)?.refunded ?? 0) < amount;
  return [
    ...[...ofOrder].flatMap(([order, all]) => {
      const kept = all.filter(({ id, amount }) => isKept(id, amount)).length;
      return kept > 1
        ? [{ order, text: `${kept} of its payments are paid and not given back` }]
        : [];
    }),
    ...payments
      .filter(({ id }) => records.shown.get(id)?.failure_code === 'order_already_paid')
      .filter(
        ({ id, orderId }) =>
          !ofOrder.get(orderId)?.some((other) => other.id !== id && hasPaid(other.id)),
      )
      .map((payment) => ({
        ...{ order: payment.order, payment },
        text: 'it lost its order, and no other payment has paid that',
      })),
    ...refused
      .filter(
        ({ orderId, paidBy }) =>
          !ofOrder.get(orderId)?.some(({ id }) => hasPaid(id) && id === (paidBy ?? id)),
      )
      .map(({ order, paidBy }) => ({
        order,
        text: `it was refused because of ${paidBy ?? 'another payment'}, which has not paid its order`,
      })),
  ];
};
