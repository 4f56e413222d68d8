import type { z } from 'zod';
import { linkEventKinds } from '../event.ts';
import { EventBody, EventHeaders } from '../event-schema.ts';
import { PaymentResponse } from '../payment-responses.ts';
import { openEnum, time } from '../response-fields.ts';
import { LinkId } from './responses.ts';

/** The body of a link's webhook. `createLinkEvent` writes it. The object is not strict, like that of a payment. */
export const LinkEventBody = EventBody.omit({ cancelled_by: true })
  .extend({
    event: openEnum(linkEventKinds).meta({
      description:
        '`link.paid`: a payment of the link is paid; that payment has its own event, too. `link.expired`: nobody has paid in ' +
        'time. A link has one of them at most. New kinds may appear.',
    }),
    created_at: time('When the link ended.'),
    payment_id: EventBody.shape.payment_id.meta({
      description:
        'The payment that has paid the link, or its last try. If nobody has tried, an id that no payment has.',
    }),
    status: PaymentResponse.shape.status,
    link_id: LinkId,
  })
  .meta({ id: 'LinkEvent' });
export type LinkEventBody = z.infer<typeof LinkEventBody>;

/** The headers of a link's webhook. */
export const LinkEventHeaders = EventHeaders.extend({
  'X-Service-Event': LinkEventBody.shape.event,
});
