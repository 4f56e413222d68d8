import { v5 } from 'uuid';
import { z } from 'zod';
import { eventKinds } from './event.ts';
import { eventIdPattern, paymentIdPattern } from './ids.ts';
import { createCursors, laterThanFrom, orderIdFilter, perPage, timeRange } from './list.ts';
import { oneOf } from './request-fields.ts';
import { deliveryStatuses } from './status.ts';

const invalidCursor = 'must be the next_cursor of an earlier response with the same filters';

export const eventCursors = createCursors('e1', eventIdPattern, { error: invalidCursor });

type Filters = {
  [Name in 'event' | 'delivery' | 'payment_id' | 'order_id' | 'order']?: string | undefined;
} & { [Name in 'from' | 'to']?: Date | undefined };

const filtersNamespace = '5b0c7c1e-6a53-4a3c-8f0e-3d8f9b1a2c44';

/**
 * The hash of the filters for a cursor. `per_page` may change from page to page. JSON leaves out what is not set, so a filter
 * that a later version adds at the end keeps the cursors that applications have.
 */
export const hashFilters = (query: Filters): string => {
  const { event, delivery, payment_id, order_id, order, from, to } = query;
  const filters = { event, delivery, payment_id, order_id, order, from, to };
  return v5(JSON.stringify(filters), filtersNamespace).slice(0, 8);
};

/** The query of a list of events. Values out of range are rejected, not clamped. */
export const ListEvents = z
  .object({
    event: oneOf(eventKinds).optional().meta({ description: 'The kind of the event.' }),
    delivery: oneOf(deliveryStatuses).optional().meta({
      description:
        'The status of the delivery at the moment. It changes, so a feed with this filter misses events.',
    }),
    payment_id: z
      .string()
      .regex(paymentIdPattern, { error: 'must be the id of a payment' })
      .optional()
      .meta({ description: 'The events of one payment.' }),
    order_id: orderIdFilter,
    ...timeRange('Events created'),
    order: z
      .enum(['desc', 'asc'], { error: 'must be desc or asc' })
      .default('desc')
      .meta({
        description:
          '`desc`: the newest first, by `created_at`. `asc`: the feed, in the order in which the service ' +
          'recorded the events: a reader who follows its cursors misses none. `from` and `to` are about the time of the order.',
      }),
    include: z
      .enum(['payload'], { error: 'must be payload' })
      .optional()
      .meta({
        description:
          '`payload`: each event has the body of its webhook, too, so that a feed needs no further request for ' +
          'each event. It may change from page to page.',
      }),
    per_page: perPage,
    cursor: eventCursors.parameter.meta({
      description: 'The `next_cursor` of an earlier page. Send the same filters with it.',
    }),
  })
  .refine(...laterThanFrom)
  .refine(({ cursor, ...filters }) => !cursor || cursor.filters === hashFilters(filters), {
    path: ['cursor'],
    error: invalidCursor,
    params: { rule: 'cursor' },
  });
export type ListEvents = z.output<typeof ListEvents>;
