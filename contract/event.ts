import { type DisputeEventKind, disputeEventKinds } from './dispute-event.ts';
import { eventId } from './ids.ts';
import { type LinkEventKind, linkEventKinds } from './link-event.ts';
import {
  type EventPaymentField,
  eventPaymentFields,
  type Payment,
  paymentFields,
} from './payment-fields.ts';
import { type RefundEventKind, refundEventKinds } from './refund-event.ts';
import type { TerminalStatus } from './status.ts';
import { isTerminal, terminalStatuses } from './status.ts';
import { isoTime } from './time.ts';

export const eventKind = (status: TerminalStatus) => `payment.${status}` as const;
/** The kinds of a payment's one event. */
export type PaymentEventKind = ReturnType<typeof eventKind>;
export const paymentEventKinds = terminalStatuses.map(eventKind);

export type EventKind = PaymentEventKind | RefundEventKind | DisputeEventKind | LinkEventKind;
export const eventKinds: readonly EventKind[] = [
  ...paymentEventKinds,
  ...refundEventKinds,
  ...disputeEventKinds,
  ...linkEventKinds,
];

/** An event of a payment, a refund, a dispute or a link. Every delivery attempt sends these bytes of `body`. */
export interface Event<Kind = EventKind> {
  id: string;
  kind: Kind;
  body: string;
  createdAt: Date;
}

/** The event of a payment that has just ended. */
export const createEvent = (payment: Payment, createdAt: Date): Event<PaymentEventKind> => {
  if (!isTerminal(payment.status)) throw new Error(`${payment.id} has not ended, it has no event`);
  const id = eventId(payment.id);
  const kind = eventKind(payment.status);
  const fields: readonly (EventPaymentField | 'cancelled_by')[] =
    payment.status === 'cancelled' ? [...eventPaymentFields, 'cancelled_by'] : eventPaymentFields;
  const link =
    payment.linkId === null ? [] : [`"link_id":${paymentFields.link_id.toJson(payment)}`];
  const members = [
    `"event":"${kind}"`,
    `"event_id":"${id}"`,
    `"created_at":"${isoTime(createdAt)}"`,
    ...fields.map((name) => `"${name}":${paymentFields[name].toJson(payment)}`),
    ...link,
  ];
  return { id, kind, body: `{${members.join()}}`, createdAt };
};
