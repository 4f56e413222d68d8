import { boolean, integer, nullable, shown, text, time } from './fields.ts';

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
  application: string;
  orderId: string;
  gateway: string;
  test: boolean;
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
  updatedAt: Date;
}

/** A gateway's record of a dispute. */
export interface KnownDispute extends Omit<
  Dispute,
  'id' | 'paymentId' | 'application' | 'orderId' | 'gateway' | 'test' | 'closedAt' | 'updatedAt'
> {
  /** By the plan of a test it changes then. */
  changesAt?: Date | null;
  /** The gateway's word for a status that is not known here. It counts as a chargeback, so that it holds its amount. */
  unknownStatus?: string;
}

/** A chargeback of these holds its amount: the bank has it until the chargeback is won. */
export const holdingStatuses: readonly DisputeStatus[] = ['needs_response', 'under_review', 'lost'];

/** The part of the payment that the dispute holds, in minor units of its own currency. */
export const amountHeld = ({
  stage,
  status,
  amount,
}: Pick<Dispute, 'stage' | 'status' | 'amount'>): number =>
  stage === 'chargeback' && holdingStatuses.includes(status) ? amount : 0;

export const isDisputeOpen = ({ status }: Pick<Dispute, 'status'>): boolean =>
  status === 'needs_response' || status === 'under_review';

const field = shown<Dispute>();

/** The fields of a dispute by their names in the API, in the API's order. */
export const disputeFields = {
  dispute_id: field('id', text),
  payment_id: field('paymentId', text),
  application: field('application', text),
  order_id: field('orderId', text),
  gateway: field('gateway', text),
  test: field('test', boolean),
  stage: field('stage', text),
  status: field('status', text),
  amount: field('amount', integer),
  amount_held: (dispute: Dispute) => integer.toJson(amountHeld(dispute)),
  currency: field('currency', text),
  reason: field('reason', nullable(text)),
  network_reason: field('networkReason', nullable(text)),
  respond_by: field('respondBy', nullable(time)),
  opened_at: field('openedAt', time),
  closed_at: field('closedAt', nullable(time)),
  updated_at: field('updatedAt', time),
} as const;
export type DisputeField = keyof typeof disputeFields;

const fields = Object.entries(disputeFields);

/** The JSON of a dispute in the API: all fields in their order. */
export const presentDispute = (dispute: Dispute): string =>
  `{${fields.map(([name, toJson]) => `"${name}":${toJson(dispute)}`).join()}}`;
