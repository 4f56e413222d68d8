/** An inquiry asks about the money, a chargeback takes it. */
export const disputeStages = ['inquiry', 'chargeback'] as const;
export type DisputeStage = (typeof disputeStages)[number];

/** `closed` is an inquiry that has ended, or a chargeback that the gateway has prevented. */
export const disputeStatuses = ['needs_response', 'under_review', 'won', 'lost', 'closed'] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

/** The payer's bank asks for the money of a payment, or takes it. The gateway decides; the service reads. */
export interface Dispute {
  id: string;
  paymentId: string;
  gatewayReference: string;
  stage: DisputeStage;
  status: DisputeStatus;
  /** In minor units of the currency. */
  amount: number;
  currency: string;
  /** The gateway's word for it, and the number of the card's network. */
  reason: string | null;
  networkReason: string | null;
  /** Null: an answer is not possible, or too late. */
  respondBy: Date | null;
  openedAt: Date;
  closedAt: Date | null;
}

/** A gateway's record of a dispute. */
export type KnownDispute = Omit<Dispute, 'id' | 'paymentId' | 'closedAt'>;

export const isDisputeOpen = ({ status }: Pick<Dispute, 'status'>): boolean =>
  status === 'needs_response' || status === 'under_review';
