import { EventListResponse } from '../../contract/event-responses.ts';
import { formatObject } from '../../contract/json-text.ts';
import { limits } from '../../contract/limits.ts';
import { formatEventCursor, hashFilters, ListEvents } from '../../contract/list-events.ts';
import type { Events } from '../../postgres/events.ts';
import type { Owner } from '../../postgres/payments.ts';
import { ownerOf } from '../auth/authentication.ts';
import type { Handler, RouteSpec, ValidationExample } from '../http/route.ts';
import { exampleEvents } from './event-examples.ts';
import { presentEventSummary } from './present-event.ts';

/** The response to `delivery=lost`. */
const invalidDelivery: ValidationExample = {
  message: 'The query is not valid, see details.fields.',
  fields: [
    {
      path: 'delivery',
      rule: 'invalid_value',
      message: 'must be one of pending, delivered, exhausted, none',
    },
  ],
};

export const listEventsRoute = {
  tag: 'Events',
  summary: 'List events',
  description:
    "What the application was told, or is to be told, of payments of the token's mode. An event must match " +
    'all filters. Events are kept with their payments, at least 30 days.\n\n' +
    '`order=asc` is a feed for catching up without a webhook: read to the end, keep the last `next_cursor`, ' +
    `and continue from it later. The feed shows an event ${limits.feedDelaySeconds} seconds after it was ` +
    'recorded, each event once; a replay does not move an event in it.',
  query: ListEvents,
  validationExample: invalidDelivery,
  responses: {
    200: {
      description: 'A page of events.',
      content: EventListResponse,
      examples: { exhausted: exampleEvents },
    },
  },
  errors: [],
} as const satisfies RouteSpec;

export interface Deps {
  events: Pick<Events, 'list'>;
  publicBaseUrl: string;
}

interface ListRequest {
  owner: Owner;
  webhookUrl: string | null;
  query: ListEvents;
}

/** Identical lists requested in one turn of the event loop share one query, as those of payments do. */
export const listEventsHandler = (deps: Deps): Handler<'application', typeof listEventsRoute> => {
  return async ({ caller, query }) => ({
    status: 200,
    body: await render(deps, { owner: ownerOf(caller), webhookUrl: caller.webhookUrl, query }),
  });
};

const render = async (
  { events, publicBaseUrl }: Deps,
  { owner, webhookUrl, query }: ListRequest,
): Promise<string> => {
  const { event, delivery, payment_id, order_id, from, to, order, per_page, cursor } = query;
  const feed = order === 'asc';
  const found = await events.list(owner, {
    kind: event,
    delivery,
    paymentId: payment_id,
    orderId: order_id,
    from,
    to,
    order: feed ? 'feed' : 'newest',
    after: cursor,
    // One more than the page holds, to learn whether there is more.
    limit: per_page + 1,
  });
  const shown = found.slice(0, per_page);
  const hasMore = found.length > per_page;
  const last = shown.at(-1);
  const end = last ? { at: feed ? last.recordedAt : last.createdAt, id: last.id } : cursor;
  const continues = end && (hasMore || feed);
  const pagination = formatObject({
    per_page,
    has_more: hasMore,
    next_cursor: continues ? formatEventCursor({ ...end, filters: hashFilters(query) }) : null,
  });
  const data = shown.map((each) => presentEventSummary(each, { publicBaseUrl, webhookUrl })).join();
  return `{"data":[${data}],"pagination":${pagination}}`;
};
