/** What moves the money of a gateway's account. */
export const movementKinds = [
  'payment',
  'refund',
  // Somebody gave the money back outside the gateway.
  'refund_elsewhere',
  // The payer's bank sent the money of a refund back.
  'refund_returned',
  // Money that came after the payment had ended without it.
  'late_payment',
  'late_reversal',
  'fee',
  'chargeback',
] as const;
export type MovementKind = (typeof movementKinds)[number];

export interface Movement {
  /** Kind and subject, for example `refund:REFUND_…`. */
  id: string;
  kind: MovementKind;
  gateway: string;
  /** The day of the account on which it was recorded, YYYY-MM-DD. */
  day: string;
  /** The day of the account on which it happened, where that was an earlier one. */
  earlierDay: string | null;
  /** Null for a fee that belongs to no payment, with the application and the order. */
  paymentId: string | null;
  refundId: string | null;
  application: string | null;
  test: boolean;
  orderId: string | null;
  /** Minor units; negative for money that leaves the account. */
  amount: number;
  currency: string;
  /** The gateway's own id of the payment, the refund, or the entry. */
  reference: string | null;
  occurredAt: Date;
  recordedAt: Date;
}
