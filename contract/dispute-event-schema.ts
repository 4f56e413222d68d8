import { z } from 'zod';
import {
  disputeEventFields,
  disputeEventKinds,
  disputeEventPaymentFields,
} from './dispute-event.ts';
import { DisputeId, DisputeResponse } from './dispute-responses.ts';
import { EventBody, EventHeaders, testField } from './event-schema.ts';
import { PaymentResponse } from './payment-responses.ts';
import { openEnum, time } from './response-fields.ts';

const payment = PaymentResponse.shape;
// The keys are those of the lists.
const isIn = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, true])) as Record<Name, true>;

/** The body of a dispute's webhook. `createDisputeEvent` writes it. The object is not strict, like that of a payment. */
export const DisputeEventBody = z
  .object({
    event: openEnum(disputeEventKinds).meta({
      description:
        '`dispute.opened`: the service has just heard of the dispute, and it is open. `dispute.updated`: its status, ' +
        'stage, amount, currency or deadline has changed. `dispute.closed`: it was won or lost, or has ended otherwise. ' +
        'A dispute that was closed before the service heard of it has no `dispute.opened`. `dispute.updated` may follow ' +
        '`dispute.closed`: the payer’s bank has taken the money again. New kinds may appear.',
    }),
    event_id: EventBody.shape.event_id,
    created_at: time('When the service heard of the change.'),
    dispute_id: DisputeId,
    sequence: z
      .int()
      .min(1)
      .meta({
        description:
          'Rises with each change of the dispute, and may skip numbers. Events are delivered independently of each other: ' +
          'act on the one with the highest number.',
      }),
    ...DisputeResponse.pick(isIn(disputeEventFields)).shape,
    payment_amount: payment.amount,
    payment_currency: payment.currency,
    ...PaymentResponse.pick(isIn(disputeEventPaymentFields)).shape,
    test: testField,
  })
  .meta({ id: 'DisputeEvent' });
export type DisputeEventBody = z.infer<typeof DisputeEventBody>;

/** The headers of a dispute's webhook. */
export const DisputeEventHeaders = EventHeaders.extend({
  'X-Service-Event': DisputeEventBody.shape.event,
});
