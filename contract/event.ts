import { type DisputeEventKind, disputeEventKinds } from './dispute-event.ts';
import { eventId, linkEventId } from './ids.ts';
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

/** The kinds of a link's one event. */
export const linkEventKinds = ['link.paid', 'link.expired'] as const;
export type LinkEventKind = (typeof linkEventKinds)[number];

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

/** Writes an event with fields of a payment. */
const eventOf = <Kind extends EventKind>(
  head: Omit<Event<Kind>, 'body'>,
  payment: Payment,
  names: readonly (EventPaymentField | 'cancelled_by' | 'link_id')[],
): Event<Kind> => {
  const members = [
    `"event":"${head.kind}"`,
    `"event_id":"${head.id}"`,
    `"created_at":"${isoTime(head.createdAt)}"`,
    ...names.map((name) => `"${name}":${paymentFields[name].toJson(payment)}`),
  ];
  return { ...head, body: `{${members.join()}}` };
};

/** The event of a payment that has just ended. */
export const createEvent = (payment: Payment, createdAt: Date): Event<PaymentEventKind> => {
  const { id, status, linkId } = payment;
  if (!isTerminal(status)) throw new Error(`${id} has not ended, it has no event`);
  return eventOf({ id: eventId(id), kind: eventKind(status), createdAt }, payment, [
    ...eventPaymentFields,
    ...(status === 'cancelled' ? (['cancelled_by'] as const) : []),
    ...(linkId === null ? [] : (['link_id'] as const)),
  ]);
};

/**
 * The event of a link that is paid or has expired. It has all fields of a payment's event, so a receiver can read both as
 * one type: those of the payment that has paid the link, or of its last try.
 */
export const createLinkEvent = (
  kind: LinkEventKind,
  payment: Payment & { linkId: string },
  createdAt: Date,
): Event<LinkEventKind> =>
  eventOf({ id: linkEventId(payment.linkId), kind, createdAt }, payment, [
    ...eventPaymentFields,
    'link_id',
  ]);
