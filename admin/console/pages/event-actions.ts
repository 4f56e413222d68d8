import { Refusal } from '../../operations/change.ts';
import type { EventSummary } from '../../../postgres/admin-events.ts';
import { type Action, atOnce } from '../actions.ts';
import type { Html } from '../html.ts';
import { ofEvent } from '../owner.ts';
import type { Deps, PersonRequest } from '../request.ts';

const replayEffects = {
  pending: 'The next attempt of the round is made now',
  delivered:
    'The receiver has accepted the event. A new round of up to six attempts sends it again',
  exhausted: 'A new round of up to six attempts sends the event again',
} as const;

const describe = ({ eventId, kind, paymentId, refundId, status }: EventSummary): string => {
  if (status === 'none') throw new Refusal(`${eventId} has no delivery.`);
  const subject = refundId === null ? paymentId : `${refundId}, a refund of ${paymentId}`;
  return (
    `This is ${kind} of ${subject}. ${replayEffects[status]}, to the current webhook URL. ` +
    'The receiver may get it twice. Payments and refunds stay as they are.'
  );
};

export const eventActions = (deps: Deps): readonly Action[] => [
  {
    path: '/events/:event/replay',
    role: 'operator',
    owner: ofEvent(deps),
    confirm: async ({ params: { event }, operations }) => ({
      title: 'Replay the webhook',
      consequence: describe(await operations.events.find(event)),
      button: 'Replay',
      done: 'The event is sent again.',
      back: `/events/${event}`,
      isHarmless: true,
    }),
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
