import { z } from 'zod';
import { linkIdPattern } from '../ids.ts';
import { type LinkField, linkStatuses } from './link.ts';
import { PaymentResponse } from '../payment-responses.ts';
import { listOf, nullableText, openEnum, paginationFields, time } from '../response-fields.ts';

const payment = PaymentResponse.shape;

export const LinkId = z
  .string()
  .regex(linkIdPattern)
  .meta({ description: 'The id of a link.', examples: ['LNK_01J8ZK3V7Q9XW2M4N6P8R0T1AB'] });

/** A schema for each field of the list in link.ts; a missing or unknown one does not compile. */
const linkSchemas = {
  link_id: LinkId,
  application: payment.application,
  order_id: payment.order_id,
  status: openEnum(linkStatuses).meta({
    description:
      '`open`: it can be paid. `paid`: a payment of it is paid. `expired`: nobody has paid in time. `disabled`: nobody can ' +
      'begin to pay any more; one who has begun may still make it `paid`. New statuses may appear.',
  }),
  amount: payment.amount,
  currency: payment.currency,
  description: payment.description,
  locale: nullableText('The language of the page.'),
  url: z.url().meta({ description: 'The page. Send it to the payer. To open it changes nothing.' }),
  payment_id: payment.payment_id.nullable().meta({ description: 'The payment that has paid it.' }),
  test: payment.test,
  expires_at: time('From then on nobody can begin to pay.'),
  created_at: time('When the link was made. The list has its order.'),
  paid_at: time('When it was paid.').nullable(),
  disabled_at: time('When it was disabled.').nullable(),
} satisfies Record<LinkField, z.ZodType>;

/** A link in a response. `presentLink` writes it. */
export const LinkResponse = z.strictObject(linkSchemas).meta({ id: 'Link' });
export type LinkResponse = z.infer<typeof LinkResponse>;

/** A list of links, newest first. */
export const LinkListResponse = listOf('Link', LinkResponse, paginationFields());
export type LinkListResponse = z.infer<typeof LinkListResponse>;
