import { z } from 'zod';
import { PaymentResponse, time } from './responses.ts';
import { eventKindOf } from './event.ts';
import { terminalStatuses } from './status.ts';

const { shape } = PaymentResponse;

/**
 * The body of a webhook, source document table 6.3; `eventOf` writes it. Not strict: the document would
 * have it as something that is sent to us, and tell receivers to refuse the fields that v1 may add.
 */
export const EventBody = z
  .object({
    event: z.enum(terminalStatuses.map(eventKindOf)),
    event_id: z.uuid().meta({ description: 'The same in every retry: drop what you have seen.' }),
    created_at: time('When the payment ended, not when it was created.'),
    payment_id: shape.payment_id,
    application: shape.application,
    order_id: shape.order_id,
    status: z.enum(terminalStatuses),
    amount: shape.amount,
    currency: shape.currency,
    tracking_code: shape.tracking_code,
    card_pan_masked: shape.card_pan_masked,
    paid_at: shape.paid_at,
    failure_code: shape.failure_code,
    failure_reason: shape.failure_reason,
    test: shape.test,
    metadata: shape.metadata,
  })
  .meta({ id: 'Event' });
export type EventBody = z.infer<typeof EventBody>;

/** What every webhook is sent with, source document table 6.2. */
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
        'with the whole secret, in lower-case hex. Refuse a `t` more than 300 seconds away.',
    }),
});
