import type { z } from 'zod';
import { CreatePayment } from '../create-payment.ts';
import { languages } from '../languages.ts';
import { linkExpiresIn } from './link.ts';
import { integerBetween, oneOf, requestObject } from '../request-fields.ts';

const { order_id, amount, currency, description } = CreatePayment.shape;

/** The body of a create. Unknown fields are rejected. */
export const CreateLink = requestObject({
  order_id: order_id.meta({
    description:
      'The order that the link pays. At most one payment of it is paid, whatever the setting of the application.',
  }),
  amount,
  currency,
  description: description.meta({
    description: 'Shown to the payer, on the page and at the gateway.',
  }),
  locale: oneOf(languages)
    .optional()
    .meta({ description: 'The language of the page, until the payer chooses another one there.' }),
  expires_in: integerBetween(linkExpiresIn).default(linkExpiresIn.default).meta({
    description:
      'Seconds until nobody can begin to pay, by default 30 days. A payment that has begun goes on.',
  }),
}).meta({ id: 'CreateLink' });
export type CreateLink = z.infer<typeof CreateLink>;
