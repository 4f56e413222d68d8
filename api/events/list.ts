import { EventListResponse } from '../../contract/event-responses.ts';
import { eventCursors, hashFilters, ListEvents } from '../../contract/list-events.ts';
import type { EventRecord, Events } from '../../postgres/webhooks/events.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import { checkPayment, listHandler } from '../http/list-handler.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { exampleEvents, exampleEventsWithPayload } from './event-examples.ts';
import { presentEventSummary } from './present-event.ts';

export const listEventsRoute = {
  tag: 'Events',
  summary: 'List events',
  description:
    "What the application was told, or is to be told, of payments of the token's mode. An event must match " +
    'all filters. Events are kept with their payments, at least 30 days.\n\n' +
    '`order=asc` is a feed for catching up without a webhook: read to the end, keep the last `next_cursor`, ' +
    'and continue from it later. The feed shows each event once; a replay does not move an event in it. ' +
    '`include=payload` gives the bodies of the webhooks as objects: up to 100 events with one request. In the raw page ' +
    'their bytes are those of the webhooks.',
  query: ListEvents,
  // To `delivery=lost`.
  validationExample: {
    path: 'delivery',
    rule: 'invalid_value',
    message: 'must be one of pending, delivered, exhausted, none',
  },
  responses: {
    200: {
      description: 'A page of events.',
      content: EventListResponse,
      examples: { exhausted: exampleEvents, with_payload: exampleEventsWithPayload },
    },
  },
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  events: Pick<Events, 'list'>;
  payments: Pick<Payments, 'get'>;
  publicBaseUrl: string;
}

export const listEventsHandler = ({
  events,
  payments,
  publicBaseUrl,
}: Deps): Handler<'application', typeof listEventsRoute> =>
  listHandler<ListEvents, EventRecord>({
    query: ListEvents,
    checkNames: checkPayment(payments),
    find: (filter, page) => events.list(filter, page),
    present: (event, { webhookUrl }) => presentEventSummary(event, { publicBaseUrl, webhookUrl }),
    nextCursor({ hasMore, last }, query) {
      const feed = query.order === 'asc';
      const end = last
        ? { at: feed ? last.recordedAt : last.createdAt, id: last.id }
        : query.cursor;
      // A feed has no end: its last cursor is where to continue later.
      return end && (hasMore || feed)
        ? eventCursors.format({ ...end, filters: hashFilters(query) })
        : null;
    },
  });
