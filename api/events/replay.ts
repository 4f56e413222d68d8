import { EventResponse } from '../../contract/event-responses.ts';
import { limits } from '../../contract/limits.ts';
import type { Events, EventWithAttempts } from '../../postgres/webhooks/events.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { findOwnEvent } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { unavailableIfTemporalIsDown } from '../http/temporal-needed.ts';
import { replayedEvent } from './event-examples.ts';
import { eventParams, isDue, presentEvent } from './present-event.ts';

export const replayEventRoute = {
  tag: 'Events',
  summary: 'Deliver an event again',
  description:
    `Begins another round of ${limits.attemptsPerRound} attempts for a delivery that is exhausted or ` +
    'delivered. Of one that is failing, it makes the next attempt of the round now. The event keeps its id and ' +
    'its bytes, and the numbers of its attempts go on; `t` of the signature is fresh, `created_at` is old. It ' +
    'uses the webhook URL and the secrets of today.\n\n' +
    'Safe to repeat: requests while an attempt is due or runs, within ' +
    `${limits.replayReuseSeconds} seconds after a round started that has delivered, or an attempt that has ` +
    'failed, change nothing. An event that was made without a ' +
    'webhook URL (`none`) cannot be replayed: read it in the feed. If the service is busy, the response may ' +
    'still show the old status; the replay follows.',
  params: eventParams,
  responses: {
    202: {
      description: 'The event; its delivery is `pending`.',
      content: EventResponse,
      examples: { replayed: replayedEvent },
    },
  },
  errors: ['EVENT_NOT_FOUND', 'REPLAY_NOT_POSSIBLE'],
} as const satisfies RouteSpec;

export interface Deps {
  events: Pick<Events, 'get'>;
  workflows: Pick<WorkflowCalls, 'replay'>;
  publicBaseUrl: string;
}

export const replayEventHandler =
  ({ events, workflows, publicBaseUrl }: Deps): Handler<'application', typeof replayEventRoute> =>
  async (request) => {
    const { application, webhookUrl } = request.caller;
    const accepted = (event: EventWithAttempts) => ({
      status: 202 as const,
      body: presentEvent(event, { publicBaseUrl, webhookUrl }),
    });
    const event = await findOwnEvent(events, request);
    const isPending = event.status === 'pending';
    if (isPending && (isDue(event) || webhookUrl === null)) return accepted(event);
    if (event.status === 'none')
      throw request.refuse(
        'REPLAY_NOT_POSSIBLE',
        'The application had no webhook URL when the event was recorded, so it is never sent: read it in the feed.',
      );
    if (webhookUrl === null)
      throw request.refuse(
        'REPLAY_NOT_POSSIBLE',
        'The application has no webhook URL: an admin can set one.',
      );

    const replayed = await unavailableIfTemporalIsDown(
      workflows.replay({ eventId: event.id, round: event.round }, application),
      'The event cannot be replayed now.',
    );
    if (replayed?.result !== 'begun') return accepted(await findOwnEvent(events, request));
    // As the replay has left it: the first attempt may be over by now.
    return accepted({
      ...event,
      status: 'pending',
      ...(!isPending && { round: event.round + 1, attemptsMade: 0 }),
      nextAttemptAt: new Date(replayed.nextAttemptAt),
    });
  };
