import { z } from 'zod';
import { EventBody, EventHeaders, testField } from './event-schema.ts';
import { linkEventKinds } from './link-event.ts';
import { LinkId } from './link-responses.ts';
import { eventPaymentFields } from './payment-fields.ts';
import { PaymentResponse } from './payment-responses.ts';
import { openEnum, time } from './response-fields.ts';

const payment = PaymentResponse.shape;
// The keys are those of the list.
const isIn = Object.fromEntries(eventPaymentFields.map((name) => [name, true])) as Record<
  (typeof eventPaymentFields)[number],
  true
>;

/** The body of a link's webhook. `createLinkEvent` writes it. The object is not strict, like that of a payment. */
export const LinkEventBody = z
  .object({
    event: openEnum(linkEventKinds).meta({
      description:
        '`link.paid`: a payment of the link is paid; that payment has its own event, too. `link.expired`: nobody has paid in ' +
        'time. A link has one of them at most. New kinds may appear.',
    }),
    event_id: EventBody.shape.event_id,
    created_at: time('When the link ended.'),
    link_id: LinkId,
    ...PaymentResponse.pick(isIn).shape,
    payment_id: payment.payment_id.meta({
      description:
        'The payment that has paid the link, or its last try. If nobody has tried, an id that no payment has.',
    }),
    test: testField,
  })
  .meta({ id: 'LinkEvent' });
export type LinkEventBody = z.infer<typeof LinkEventBody>;

/** The headers of a link's webhook. */
export const LinkEventHeaders = EventHeaders.extend({
  'X-Service-Event': LinkEventBody.shape.event,
});
