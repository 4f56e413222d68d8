import { labelOf } from '../../operations/labels.ts';
import { Refusal } from '../../operations/change.ts';
import type { EventSummary } from '../../../postgres/admin/events.ts';
import { type Action, atOnce } from '../actions.ts';
import { coded, deliveryState, type Html, idLink, type Row } from '../html.ts';
import { ofEvent } from '../owner.ts';
import type { Deps, PersonRequest } from '../request.ts';
import { applicationOf } from '../thing-page.ts';

const replayEffects = {
  pending: 'The next attempt of the round is made now',
  delivered:
    'The receiver has accepted the event. A new round of up to six attempts sends it again',
  exhausted: 'A new round of up to six attempts sends the event again',
} as const;

const subjectOf = ({ paymentId, refundId, disputeId, linkId }: EventSummary): string => {
  if (linkId !== null) return `the link ${linkId}`;
  if (refundId !== null) return `${refundId}, a refund of ${paymentId}`;
  return disputeId === null ? paymentId : `${disputeId}, a dispute of ${paymentId}`;
};

const describe = (event: EventSummary): string => {
  const { eventId, kind, status } = event;
  if (status === 'none') throw new Refusal(`${eventId} has no delivery.`);
  return (
    `This is “${labelOf('event', kind)}” of ${subjectOf(event)}. ${replayEffects[status]}, to the current webhook URL. ` +
    'The receiver may get it twice. Payments and refunds stay as they are.'
  );
};

/** The facts of an event and of its delivery. */
const eventCells = (event: EventSummary): Row => {
  const { eventId, kind, paymentId, refundId, disputeId, linkId } = event;
  return {
    Event: idLink(`/events/${eventId}`, eventId),
    Kind: coded('event', kind),
    Payment: event.hasPayment ? idLink(`/payments/${paymentId}`, paymentId) : null,
    Refund: refundId && idLink(`/refunds/${refundId}`, refundId),
    Dispute: disputeId && idLink(`/disputes/${disputeId}`, disputeId),
    Link: linkId && idLink(`/links/${linkId}`, linkId),
    Order: event.orderId,
    Application: applicationOf(event),
    Webhook: deliveryState(event.status, event.errorClass),
    Attempts: event.attempts,
    Recorded: event.createdAt,
  };
};

export const eventActions = (deps: Deps): readonly Action[] => [
  {
    path: '/events/:event/replay',
    role: 'operator',
    owner: ofEvent(deps),
    confirm: async ({ params, operations }) => {
      const event = await operations.events.find(params.event);
      const consequence = describe(event);
      await operations.replays.needWebhookUrl(event.application);
      return {
        title: 'Replay the webhook',
        consequence,
        facts: eventCells(event),
        button: 'Replay',
        done: 'The next attempt of the event is due.',
        back: `/events/${params.event}`,
        isHarmless: true,
      };
    },
    execute: async ({ params: { event }, operations }, reason) => {
      await operations.replays.replayOne(event, reason || null);
    },
  },
];

/** Sends an event again, for people who may. */
export const replayButton = (
  { eventId, status }: Pick<EventSummary, 'eventId' | 'status'>,
  { session }: Pick<PersonRequest, 'session'>,
): Html | null =>
  session.role === 'viewer' || status === 'none'
    ? null
    : atOnce(`/events/${eventId}/replay`, status === 'pending' ? 'Send now' : 'Replay');
