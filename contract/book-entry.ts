/** One entry of a gateway's own book. */
export interface BookEntry {
  /** The gateway's own id of it. */
  reference: string;
  kind: 'payment' | 'refund' | 'refund_returned' | 'chargeback' | 'fee' | 'payout';
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
}
