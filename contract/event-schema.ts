import { z } from 'zod';
import { paymentEventKinds } from './event.ts';
import { type EventPaymentField, eventPaymentFields } from './payment-fields.ts';
import { PaymentResponse } from './payment-responses.ts';
import { openEnum, time } from './response-fields.ts';
import { terminalStatuses } from './status.ts';

// The keys are those of the list.
const isInEvent = Object.fromEntries(eventPaymentFields.map((name) => [name, true])) as Record<
  EventPaymentField,
  true
>;

/** For the events of payments and refunds. */
export const testField = PaymentResponse.shape.test.meta({
  description:
    'True if a test token created the payment. Events of both modes come to the same webhook URL with the same ' +
    'signature: compare it with your order before you act.',
});

/**
 * The body of a webhook. `createEvent` writes it. The object is not strict: a strict one would tell
 * receivers to reject the fields that later versions may add. Source: service interface, table 6.3.
 */
export const EventBody = z
  .object({
    event: openEnum(paymentEventKinds).meta({
      description: 'The kind of the event. New kinds may appear.',
    }),
    event_id: z.uuid().meta({
      description: 'The same in every attempt: ignore an event that you have processed.',
    }),
    created_at: time('When the payment ended, not when it was created.'),
    ...PaymentResponse.pick(isInEvent).shape,
    status: openEnum(terminalStatuses),
    test: testField,
    cancelled_by: PaymentResponse.shape.cancelled_by
      .unwrap()
      .exactOptional()
      .meta({ description: 'The one who called the payment off; only in `payment.cancelled`.' }),
    link_id: PaymentResponse.shape.link_id
      .unwrap()
      .exactOptional()
      .meta({ description: 'The link that the payer paid with; only of a payment that has one.' }),
  })
  .meta({ id: 'Event' });
export type EventBody = z.infer<typeof EventBody>;

/** The headers of every webhook. Source: service interface, table 6.2. */
export const EventHeaders = z.object({
  'Content-Type': z.literal('application/json'),
  'User-Agent': z.literal('Service-Webhook/1.0'),
  'X-Service-Event': EventBody.shape.event,
  'X-Service-Event-Id': EventBody.shape.event_id,
  'X-Service-Timestamp': z.string().regex(/^\d+$/).meta({ description: 'Unix time in seconds.' }),
  'X-Service-Delivery-Attempt': z
    .string()
    .regex(/^[1-9]\d*$/)
    .meta({ description: 'Starts at 1 and rises.' }),
  'X-Service-Signature': z
    .string()
    .regex(/^t=\d+(,v1=[0-9a-f]{64})+$/)
    .meta({
      description:
        'One `v1` for each active webhook secret: HMAC-SHA256 of `t`, a dot and the raw body, keyed ' +
        'with the whole secret, in lower-case hex. Reject a `t` more than 300 seconds away.',
    }),
  traceparent: z
    .string()
    .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
    .optional()
    .meta({
      description:
        'The `traceparent` of the request that created the payment or the refund, if it had one. ' +
        'It is the same in every attempt and replay.',
    }),
});
