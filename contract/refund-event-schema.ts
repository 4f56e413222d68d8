import { z } from 'zod';
import { EventBody, EventHeaders, testField } from './event-schema.ts';
import { PaymentResponse } from './payment-responses.ts';
import { refundEventFields, refundEventKinds, refundEventPaymentFields } from './refund-event.ts';
import { RefundResponse } from './refund-responses.ts';
import { openEnum, time } from './response-fields.ts';

const { before, after } = refundEventFields;
// The keys are those of the list.
const isIn = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, true])) as Record<Name, true>;

/** The body of a refund's webhook. `createRefundEvent` writes it. The object is not strict, like that of a payment. */
export const RefundEventBody = z
  .object({
    event: openEnum(refundEventKinds).meta({
      description:
        '`refund.created`: the application did not ask for this refund. `refund.failed` may follow `refund.succeeded`: ' +
        'the bank sent the money back. New kinds may appear.',
    }),
    event_id: EventBody.shape.event_id,
    created_at: time('When the refund came to this state.'),
    refund_id: RefundResponse.shape.refund_id,
    sequence: z.int().min(1).meta({
      description:
        'Events of a refund are delivered independently of each other: act on the one with the highest number.',
    }),
    ...RefundResponse.pick(isIn(before)).shape,
    payment_amount: PaymentResponse.shape.amount,
    ...PaymentResponse.pick(isIn(refundEventPaymentFields)).shape,
    ...RefundResponse.pick(isIn(after)).shape,
    test: testField,
  })
  .meta({ id: 'RefundEvent' });
export type RefundEventBody = z.infer<typeof RefundEventBody>;

/** The headers of a refund's webhook. */
export const RefundEventHeaders = EventHeaders.extend({
  'X-Service-Event': RefundEventBody.shape.event,
});
