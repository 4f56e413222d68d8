/** One entry of a gateway's own book. */
export interface BookEntry {
  /** The gateway's own id of the transaction, which never changes. A charge may have several. */
  id: string;
  /** The gateway's id of the charge or the refund that it is of, as `refunds` returns it; for `payment_failed`, of what it takes back. */
  source: string | null;
  /**
   * `payment_failed`: takes back a payment that may never have succeeded. `payout`: the balance goes to the owner's bank, and
   * `payout_returned`: it comes back. `own_money`: the owner moves other money of their own, or the gateway puts some
   * aside. `other`: none of these, as far as the driver knows.
   */
  kind:
    | 'payment'
    | 'payment_failed'
    | 'refund'
    | 'refund_returned'
    | 'chargeback'
    | 'fee'
    | 'payout'
    | 'payout_returned'
    | 'own_money'
    | 'other';
  /** The gateway's own name of such an entry, for `other` and `payment_failed`. */
  name?: string;
  at: Date;
  /** In minor units, before the fee; negative for money that leaves the account. */
  amount: number;
  currency: string;
  /** The gateway kept this much of it, in the same currency; null where it does not say. */
  fee: number | null;
  /** The gateway's ids of the payment, and ours where the gateway carries it. Any may be null. The first that is found counts. */
  payment: { reference: string | null; trackingCode: string | null; id: string | null };
  /** Our id of the refund, where the gateway carries it. */
  refundId: string | null;
}

/** One line of an account's statement. A line without an entry in the book moves the balance, too, as money on its way. */
export interface StatementLine {
  /** The gateway's own id of it, that of its entry. */
  id: string;
  at: Date;
  kind: BookEntry['kind'];
  /** The gateway's own words for it. */
  type: string;
  category: string | null;
  /** In minor units of the balance, before the fee; negative for money that leaves the account. */
  amount: number;
  fee: number;
  /** Of the balance. It may differ from that of the payer. */
  currency: string;
  /** When the money can be paid out. */
  availableOn: Date | null;
  /** The gateway's id of the charge or the refund that it is of; of a payout without a list of all money, that of the payment. */
  source: string | null;
  /** The payout that it is. */
  payout: string | null;
}

/** An amount of an account's balance, in minor units. */
export interface Balance {
  currency: string;
  amount: number;
}
