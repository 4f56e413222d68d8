import { EventResponse } from '../../contract/event-responses.ts';
import type { Events } from '../../postgres/webhooks/events.ts';
import { findOwnEvent } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { exhaustedEvent } from './event-examples.ts';
import { eventParams, presentEvent } from './present-event.ts';

export const getEventRoute = {
  tag: 'Events',
  summary: 'Get one event with its attempts',
  description:
    'The payload as an object, the delivery, and every attempt. In the raw response the bytes of the payload are those ' +
    'that were sent. An event of another application, or of the other token mode, responds `404` like one that does not exist.',
  params: eventParams,
  responses: {
    200: {
      description: 'The event.',
      content: EventResponse,
      examples: { exhausted: exhaustedEvent },
    },
  },
  errors: ['EVENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  events: Pick<Events, 'get'>;
  publicBaseUrl: string;
}

export const getEventHandler =
  ({ events, publicBaseUrl }: Deps): Handler<'application', typeof getEventRoute> =>
  async (request) => {
    const event = await findOwnEvent(events, request);
    const { webhookUrl } = request.caller;
    return { status: 200, body: presentEvent(event, { publicBaseUrl, webhookUrl }) };
  };
