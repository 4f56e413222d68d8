import type { DisputeEvent, Event, FailureCode, LinkEvent, RefundEvent } from './types.ts';

/** With the member it is a subtype of the other events, as the narrowing of `isKnownEvent` needs. */
type OfRefund = RefundEvent & { cancelled_by?: never; link_id?: never };
type OfDispute = DisputeEvent & { cancelled_by?: never; link_id?: never };
type OfLink = LinkEvent & { cancelled_by?: never };

interface Events {
  'payment.paid': Event & { status: 'paid'; paid_at: string; failure_code: null };
  'payment.failed': Event & { status: 'failed'; paid_at: null; failure_code: FailureCode };
  'payment.cancelled': Event & { status: 'cancelled'; paid_at: null; failure_code: null };
  'payment.expired': Event & { status: 'expired'; paid_at: null; failure_code: null };
  'refund.created': OfRefund;
  'refund.succeeded': OfRefund & { status: 'succeeded'; failure_code: null };
  'refund.failed': OfRefund & { status: 'failed'; failure_code: string };
  'dispute.opened': OfDispute & { closed_at: null };
  'dispute.updated': OfDispute;
  'dispute.closed': OfDispute & { closed_at: string };
  'link.paid': OfLink & { status: 'paid'; paid_at: string; failure_code: null };
  'link.expired': OfLink;
}

/** An event of a kind that this release knows; its `event` says which fields it has. */
export type KnownEvent = { [Kind in keyof Events]: Events[Kind] & { event: Kind } }[keyof Events];

const kinds: Record<keyof Events, true> = {
  'payment.paid': true,
  'payment.failed': true,
  'payment.cancelled': true,
  'payment.expired': true,
  'refund.created': true,
  'refund.succeeded': true,
  'refund.failed': true,
  'dispute.opened': true,
  'dispute.updated': true,
  'dispute.closed': true,
  'link.paid': true,
  'link.expired': true,
};

/** False for the kinds of later versions: answer those with a 2xx status, and do nothing else. */
export const isKnownEvent = (event: Event): event is KnownEvent =>
  Object.hasOwn(kinds, event.event);
