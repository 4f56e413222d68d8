import { z } from 'zod';
import { EventBody } from './event-schema.ts';
import { eventKinds } from './event.ts';
import { limits } from './limits.ts';
import { PaymentResponse } from './payment-responses.ts';
import { listOf, openEnum, paginationFields, time } from './response-fields.ts';
import { deliveryStatuses, roundTriggers } from './status.ts';

const DeliveryResponse = z
  .strictObject({
    status: openEnum(deliveryStatuses).meta({
      description:
        '`pending`: attempts go on. `delivered`: the receiver answered with a 2xx status, which does not ' +
        'mean that it has worked on the event. `exhausted`: all attempts of the round failed. `none`: the ' +
        'application had no webhook URL when the event was made; it stays `none`, and the feed is how it is ' +
        'read. New statuses may appear.',
    }),
    round: z
      .int()
      .min(1)
      .meta({
        description: `A round has up to ${limits.attemptsPerRound} attempts. A replay begins the next one.`,
      }),
    attempts_left: z
      .int()
      .min(0)
      .meta({ description: 'The attempts that are left in this round; 0 unless `pending`.' }),
    next_attempt_at: time('When the next attempt is due; null unless `pending`.').nullable(),
    delivered_at: time('When the receiver last accepted the event.').nullable(),
  })
  .meta({ id: 'Delivery' });

const AttemptResponse = z
  .strictObject({
    number: z.int().min(1).meta({ description: 'As in `X-Service-Delivery-Attempt`.' }),
    round: z.int().min(1),
    trigger: openEnum(roundTriggers).meta({ description: 'The initiator of the round.' }),
    started_at: time('When the attempt began.'),
    completed_at: time('Null while it runs, or if it was cut off and will be repeated.').nullable(),
    duration_ms: z.int().min(0).nullable(),
    response_status: z.int().nullable(),
    error: z
      .string()
      .nullable()
      .meta({
        description:
          'The class of the failure; null if the receiver accepted the event. `http_status`, `timeout`, `dns`, ' +
          '`connect`, `tls`, `reset`, `protocol`, `blocked` (the address is not public), `no_url`. New classes may appear.',
      }),
    response_body: z
      .string()
      .nullable()
      .meta({
        description:
          "The start of the receiver's answer to a failed attempt, as text, at most 4 KB; kept for 90 days " +
          'unless the operator has set another number.',
      }),
    response_truncated: z.boolean(),
  })
  .meta({ id: 'Attempt' });

const eventFields = {
  event_id: EventBody.shape.event_id,
  event: openEnum(eventKinds),
  created_at: EventBody.shape.created_at,
  payment_id: PaymentResponse.shape.payment_id,
  order_id: PaymentResponse.shape.order_id,
  test: PaymentResponse.shape.test,
  delivery: DeliveryResponse,
  links: z.strictObject({
    payment: z.url(),
    replay: z.url().nullable().meta({
      description: 'Post here to deliver the event again; null if that is not possible now.',
    }),
  }),
};

/** An event in a list. */
const EventSummary = z
  .strictObject({
    ...eventFields,
    // As below; only if the query asks for it.
    payload: EventBody.exactOptional(),
  })
  .meta({ id: 'EventSummary' });

/** One event with everything that was sent and answered. */
export const EventResponse = z
  .strictObject({
    ...eventFields,
    // The body of the webhook. Its bytes are the same in every attempt and here.
    payload: EventBody,
    attempts: z.array(AttemptResponse).meta({ description: 'In their order.' }),
  })
  .meta({ id: 'EventDetail' });
export type EventResponse = z.infer<typeof EventResponse>;

export const EventListResponse = listOf(
  'Event',
  EventSummary,
  paginationFields(
    'Send it as `cursor` to get the next page. With `order=asc` it is there on the last page too: ' +
      'keep it, and continue from it later. Null on the last page of `desc`, and for an empty feed.',
  ),
);
export type EventListResponse = z.infer<typeof EventListResponse>;
