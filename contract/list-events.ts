import { v5 } from 'uuid';
import { z } from 'zod';
import { eventKinds } from './event.ts';
import { eventIdPattern, paymentIdPattern } from './ids.ts';
import { limits } from './limits.ts';
import {
  asInteger,
  count,
  dayMs,
  listBounds,
  orderIdFilter,
  timeBound,
  timeRule,
} from './list-payments.ts';
import { deliveryStatuses } from './status.ts';

/** A position in a list of events: the time that the list is ordered by, and the id. */
export interface EventPosition {
  at: Date;
  id: string;
}

/** A cursor contains a hash of the filters that it belongs to. */
interface Cursor extends EventPosition {
  filters: string;
}

/** A cursor, opaque to callers: the position where the last page ended. */
export const formatEventCursor = ({ at, id, filters }: Cursor): string =>
  Buffer.from(`e1:${at.getTime()}:${id}:${filters}`).toString('base64url');

const parseCursor = (text: string): Cursor | undefined => {
  const pattern = /^e1:(\d{1,14}):([0-9a-f-]{36}):([0-9a-f]{8})$/;
  const found = pattern.exec(Buffer.from(text, 'base64url').toString('latin1'));
  const [, ms = '', id = '', filters = ''] = found ?? [];
  const cursor = { at: new Date(Number(ms)), id, filters };
  // base64 has several spellings of the same bytes; only ours is accepted.
  return eventIdPattern.test(id) && formatEventCursor(cursor) === text ? cursor : undefined;
};

type Filters = {
  [Name in 'event' | 'delivery' | 'payment_id' | 'order_id' | 'order']?: string | undefined;
} & { [Name in 'from' | 'to']?: Date | undefined };

const filtersNamespace = '5b0c7c1e-6a53-4a3c-8f0e-3d8f9b1a2c44';

/** The hash of the filters for a cursor. `per_page` may change from page to page. */
export const hashFilters = (query: Filters): string => {
  const { event, delivery, payment_id, order_id, order, from, to } = query;
  const filters = [event, delivery, payment_id, order_id, order, from, to];
  return v5(JSON.stringify(filters), filtersNamespace).slice(0, 8);
};

const invalidCursor = 'must be the next_cursor of an earlier response with the same filters';

/** The query of a list of events. Values out of range are rejected, not clamped. */
export const ListEvents = z
  .object({
    event: z
      .enum(eventKinds, { error: `must be one of ${eventKinds.join(', ')}` })
      .optional()
      .meta({ description: 'The kind of the event.' }),
    delivery: z
      .enum(deliveryStatuses, { error: `must be one of ${deliveryStatuses.join(', ')}` })
      .optional()
      .meta({
        description:
          'The status of the delivery at the moment. It changes, so a feed with this filter misses events.',
      }),
    payment_id: z
      .string()
      .regex(paymentIdPattern, { error: 'must be the id of a payment' })
      .optional()
      .meta({ description: 'The events of one payment.' }),
    order_id: orderIdFilter,
    from: timeBound(0)
      .optional()
      .meta({
        description: `Events from this time on; a date means its first moment in UTC. ${timeRule}`,
      }),
    to: timeBound(dayMs)
      .optional()
      .meta({
        description: `Events before this time; a date includes its whole day in UTC. ${timeRule}`,
      }),
    order: z
      .enum(['desc', 'asc'], { error: 'must be desc or asc' })
      .default('desc')
      .meta({
        description:
          '`desc`: the newest first, by `created_at`. `asc`: the feed, in the order in which the service ' +
          `recorded the events. It shows an event ${limits.feedDelaySeconds} seconds after that, and a reader ` +
          'who follows its cursors misses none. `from` and `to` are about the time of the order.',
      }),
    per_page: count(listBounds.perPage)
      .default(listBounds.perPageDefault)
      .meta({
        override: asInteger({ maximum: listBounds.perPage, default: listBounds.perPageDefault }),
      }),
    cursor: z
      .string()
      .transform((text, ctx) => {
        const cursor = parseCursor(text);
        if (cursor) return cursor;
        ctx.addIssue({ code: 'custom', message: invalidCursor, params: { rule: 'cursor' } });
        return z.NEVER;
      })
      .optional()
      .meta({
        description: 'The `next_cursor` of an earlier page. Send the same filters with it.',
      }),
  })
  .refine(({ cursor, ...filters }) => !cursor || cursor.filters === hashFilters(filters), {
    path: ['cursor'],
    error: invalidCursor,
    params: { rule: 'cursor' },
  });
export type ListEvents = z.output<typeof ListEvents>;
