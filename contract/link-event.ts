import { text } from './fields.ts';
import { linkEventId, newPaymentId } from './ids.ts';
import type { Link } from './link.ts';
import { eventPaymentFields, type Payment, paymentFields } from './payment-fields.ts';
import { isoTime } from './time.ts';

/** The kinds of a link's one event. */
export const linkEventKinds = ['link.paid', 'link.expired'] as const;
export type LinkEventKind = (typeof linkEventKinds)[number];

/**
 * The event of a link that is paid or has expired, with the bytes that every attempt sends. It has all fields of a
 * payment's event, so a receiver can read both as one type: those of the payment that has paid the link, or of its
 * last try. A link without a try has those of a payment that nobody has begun.
 */
export const createLinkEvent = (
  kind: LinkEventKind,
  { link, payment, createdAt }: { link: Link; payment: EventPayment; createdAt: Date },
): { id: string; kind: LinkEventKind; body: string; createdAt: Date } => {
  const id = linkEventId(link.id);
  const members = [
    `"event":"${kind}"`,
    `"event_id":"${id}"`,
    `"created_at":"${isoTime(createdAt)}"`,
    `"link_id":${text.toJson(link.id)}`,
    ...eventPaymentFields.map((name) => `"${name}":${paymentFields[name].toJson(payment)}`),
  ];
  return { id, kind, body: `{${members.join()}}`, createdAt };
};

/** The part of a payment that its event has. */
type EventPayment = Pick<
  Payment,
  | 'id'
  | 'application'
  | 'orderId'
  | 'status'
  | 'amount'
  | 'currency'
  | 'trackingCode'
  | 'cardPanMasked'
  | 'paidAt'
  | 'failureCode'
  | 'test'
  | 'metadata'
>;

/** For the event of a link that nobody has tried to pay. No payment has its id. */
export const untriedPayment = ({
  application,
  orderId,
  amount,
  currency,
  test,
}: Link): EventPayment => ({
  ...{ id: newPaymentId(), application, orderId, amount, currency, test },
  ...{ status: 'expired', trackingCode: null, cardPanMasked: null, paidAt: null },
  ...{ failureCode: null, metadata: '{}' },
});
