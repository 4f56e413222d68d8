import { entryIn, type Entry } from './server.ts';

/** A refund in a provider's book. */
export interface RefundEntry {
  /** The provider's own id. */
  reference: string;
  /** The payment's reference. */
  payment: string;
  /** Our id, as it was sent. Null for a refund that was made at the dashboard. */
  refundId: string | null;
  /** As it was on the wire. */
  amount: number;
  /** The provider's own status. */
  state: string;
  /** The provider's own reason for the status. */
  reason: string | null;
  /** Our id of the payment, where it was sent. */
  claimed?: string | null;
  createdAt: Date;
}

/** A provider's book of refunds, the oldest first. A payment's `reversed` counts them. */
export const newRefundBook = (
  book: ReadonlyMap<string, Entry>,
  { done, failed, reference }: { done: string; failed: string[]; reference: (n: number) => string },
) => {
  const refunds: RefundEntry[] = [];
  /** The status of the next refunds. */
  let next = { state: done, reason: null as string | null };
  const of = (payment: string) => refunds.filter((refund) => refund.payment === payment);
  const rest = (payment: string) =>
    of(payment)
      .filter(({ state }) => !failed.includes(state))
      .reduce((left, { amount }) => left - amount, book.get(payment)?.amount ?? 0);
  const add = (
    payment: string,
    { amount, refundId = null }: { amount: number; refundId?: string | null },
  ): RefundEntry => {
    const entry = entryIn(book, payment);
    const refund = {
      ...{ reference: reference(refunds.length + 1), payment, refundId, amount, ...next },
      createdAt: new Date(),
    };
    refunds.push(refund);
    entry.reversed += 1;
    return refund;
  };
  return {
    refunds,
    of,
    rest,
    add,
    /** Sets the status of the next refunds; without one they are done. */
    refundsAre: (state = done, reason: string | null = null) => {
      next = { state, reason };
    },
    /** A person gives money back at the dashboard. */
    refundAtDashboard: (payment: string, amount: number) => add(payment, { amount }),
    /** Sets the status of the payment's refunds. */
    moveRefunds(payment: string, state: string, reason: string | null = null) {
      for (const refund of of(payment)) Object.assign(refund, { state, reason });
    },
  };
};
