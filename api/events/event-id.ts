import { z } from 'zod';
import { EventResponse } from '../../contract/event-responses.ts';
import { eventIdPattern } from '../../contract/ids.ts';
import type { Events, EventWithAttempts } from '../../postgres/events.ts';
import type { Caller } from '../../postgres/tokens.ts';
import { ownerOf } from '../auth/authentication.ts';
import type { Refuse } from '../http/route.ts';

export const eventParams = z.object({ event_id: EventResponse.shape.event_id });

interface EventRequest {
  caller: Caller;
  params: Readonly<Record<string, string>>;
  refuse: Refuse<'EVENT_NOT_FOUND'>;
}

/** The caller's event with the id in the path. @throws PaymentError EVENT_NOT_FOUND */
export const findOwnEvent = async (
  events: Pick<Events, 'get'>,
  { caller, params, refuse }: EventRequest,
): Promise<EventWithAttempts> => {
  const id = params['event_id'] ?? '';
  const event = eventIdPattern.test(id) ? await events.get(id, ownerOf(caller)) : undefined;
  if (!event) throw refuse('EVENT_NOT_FOUND');
  return event;
};
