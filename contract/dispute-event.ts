import {
  type Dispute,
  type DisputeField,
  disputeFields,
  isDisputeOpen,
  type KnownDispute,
} from './dispute.ts';
import { integer, text } from './fields.ts';
import { disputeEventId } from './ids.ts';
import {
  type EventPaymentField,
  eventPaymentFields,
  type Payment,
  type PaymentField,
  paymentFields,
} from './payment-fields.ts';
import { isoTime } from './time.ts';

/** The kinds of a dispute's events. `dispute.updated` may follow `dispute.closed`: a second chargeback after a won one. */
export const disputeEventKinds = ['dispute.opened', 'dispute.updated', 'dispute.closed'] as const;
export type DisputeEventKind = (typeof disputeEventKinds)[number];

/** The dispute's fields in its event, besides its id. */
export const disputeEventFields = [
  'stage',
  'status',
  'amount',
  'amount_held',
  'currency',
  'reason',
  'network_reason',
  'respond_by',
  'opened_at',
  'closed_at',
] as const satisfies readonly DisputeField[];

type PaymentOnlyField = Exclude<EventPaymentField, (typeof disputeEventFields)[number]>;
/** The payment's fields in the event. With them it has all fields of a payment's event, so a receiver can read both as one type. */
export const disputeEventPaymentFields = [
  ...eventPaymentFields.filter(
    (name): name is PaymentOnlyField => !disputeEventFields.some((each) => each === name),
  ),
  'amount_refunded',
  'amount_refund_pending',
  'amount_disputed',
] as const satisfies readonly PaymentField[];

/**
 * The event that tells of a change: the end if the dispute has this end only now, the beginning if nobody knew of it.
 * @param was undefined: the dispute was not known
 * @returns undefined if applications see no change
 */
export const disputeEventKind = (
  was: KnownDispute | undefined,
  dispute: KnownDispute,
): DisputeEventKind | undefined => {
  if (was?.status !== dispute.status && !isDisputeOpen(dispute)) return 'dispute.closed';
  if (!was) return 'dispute.opened';
  const isSame =
    was.status === dispute.status &&
    was.stage === dispute.stage &&
    was.amount === dispute.amount &&
    was.currency === dispute.currency &&
    was.respondBy?.getTime() === dispute.respondBy?.getTime();
  return isSame ? undefined : 'dispute.updated';
};

/** The event of a dispute, with the bytes that every attempt sends. */
export const createDisputeEvent = (
  kind: DisputeEventKind,
  {
    dispute,
    sequence,
    payment,
    createdAt,
  }: { dispute: Dispute; sequence: number; payment: Payment; createdAt: Date },
) => {
  const id = disputeEventId(dispute.id, sequence, kind);
  const members = [
    `"event":"${kind}"`,
    `"event_id":"${id}"`,
    `"created_at":"${isoTime(createdAt)}"`,
    `"dispute_id":"${dispute.id}"`,
    `"sequence":${sequence}`,
    ...disputeEventFields.map((name) => `"${name}":${disputeFields[name](dispute)}`),
    `"payment_amount":${integer.toJson(payment.amount)}`,
    `"payment_currency":${text.toJson(payment.currency)}`,
    ...disputeEventPaymentFields.map((name) => `"${name}":${paymentFields[name].toJson(payment)}`),
  ];
  return { id, kind, body: `{${members.join()}}`, createdAt };
};
