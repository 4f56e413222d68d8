import type { Event } from './event.ts';
import { text } from './fields.ts';
import { linkEventId } from './ids.ts';
import type { Link } from './link.ts';
import { type Payment, paymentFields } from './payment-fields.ts';
import { eventPaymentFields } from './payment-fields.ts';
import { isoTime } from './time.ts';

/** The kinds of a link's one event. */
export const linkEventKinds = ['link.paid', 'link.expired'] as const;
export type LinkEventKind = (typeof linkEventKinds)[number];

/**
 * The event of a link that is paid or has expired, with the bytes that every attempt sends. It has all fields of a
 * payment's event, so a receiver can read both as one type: those of the payment that has paid the link, or of its
 * last try. Without any try `payment_id` is null, and the rest is that of a payment that nobody has begun.
 */
export const createLinkEvent = (
  kind: LinkEventKind,
  { link, payment, createdAt }: { link: Link; payment: Payment | null; createdAt: Date },
): Event<LinkEventKind> => {
  const id = linkEventId(link.id);
  const blank = {
    ...link,
    trackingCode: null,
    cardPanMasked: null,
    failureCode: null,
    metadata: '{}',
    status: 'expired',
    paidAt: null,
  } as const;
  const { payment_id, ...others } = Object.fromEntries(
    eventPaymentFields.map((name) => [
      name,
      paymentFields[name].toJson(payment ?? (blank as never)),
    ]),
  );
  const members = [
    `"event":"${kind}"`,
    `"event_id":"${id}"`,
    `"created_at":"${isoTime(createdAt)}"`,
    `"link_id":${text.toJson(link.id)}`,
    `"payment_id":${payment === null ? 'null' : payment_id}`,
    ...Object.entries(others).map(([name, json]) => `"${name}":${json}`),
  ];
  return { id, kind, body: `{${members.join()}}`, createdAt };
};
