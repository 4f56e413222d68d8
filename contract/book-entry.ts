/** One entry of a gateway's own book. */
export interface BookEntry {
  /** The gateway's own id of it. */
  reference: string;
  /**
   * `payment_failed`: takes back a payment that may never have succeeded. `payout`: the owner of the account moves money of
   * their own. `other`: none of these, as far as the driver knows.
   */
  kind:
    | 'payment'
    | 'payment_failed'
    | 'refund'
    | 'refund_returned'
    | 'chargeback'
    | 'fee'
    | 'payout'
    | 'other';
  /** The gateway's own name of such an entry, for `other` and `payment_failed`. */
  name?: string;
  /** The reference of the payment that a `payment_failed` takes back. */
  takesBack?: string | null;
  at: Date;
  /** In minor units, before the fee; negative for money that leaves the account. */
  amount: number;
  currency: string;
  /** The gateway kept this much of it, in the same currency; null where it does not say. */
  fee: number | null;
  /** The gateway's ids of the payment, and ours where the gateway carries it. Any may be null. */
  payment: { reference: string | null; trackingCode: string | null; id: string | null };
  /** Our id of the refund, where the gateway carries it. */
  refundId: string | null;
  /** The gateway's id of the refund, where it is not that of the entry. */
  refundReference?: string | null;
}
