import { z } from 'zod';
import { type DisputeField, disputeStages, disputeStatuses } from './dispute.ts';
import { disputeIdPattern } from './ids.ts';
import { PaymentResponse } from './payment-responses.ts';
import { listOf, nullableText, openEnum, paginationFields, time } from './response-fields.ts';

const payment = PaymentResponse.shape;

export const DisputeId = z
  .string()
  .regex(disputeIdPattern)
  .meta({
    description: 'The id of a dispute.',
    examples: ['DISPUTE_5C8R1XKQ0ZJ7W3N6VYH2B4MTGD'],
  });

/** A schema for each field of the list in dispute.ts; a missing or unknown one does not compile. */
const disputeSchemas = {
  dispute_id: DisputeId,
  payment_id: payment.payment_id,
  application: payment.application,
  order_id: payment.order_id,
  gateway: payment.gateway,
  test: payment.test,
  stage: openEnum(disputeStages).meta({
    description:
      '`inquiry`: the payer’s bank asks about the money. `chargeback`: it takes the money. New stages may appear.',
  }),
  status: openEnum(disputeStatuses).meta({
    description:
      '`needs_response`: the gateway waits for evidence until `respond_by`. `under_review`: the bank decides. `won`: the ' +
      'money comes back. `lost`: it does not. `closed`: the inquiry has ended, or the gateway has prevented the ' +
      'chargeback. A `won` dispute may open again: the bank can take the money a second time. New statuses may appear.',
  }),
  amount: payment.amount,
  amount_held: z
    .int()
    .min(0)
    .meta({
      description:
        'The amount that no refund can take: that of the dispute while it is a chargeback that is neither `won` nor `closed`, ' +
        'else 0. `amount_disputed` of the payment is the sum, in which one of another currency counts as the whole payment.',
    }),
  currency: payment.currency,
  reason: nullableText('The reason, in the gateway’s word. An open set: new words may appear.'),
  network_reason: nullableText('The reason, as the code of the card’s network.'),
  respond_by: time(
    'Until when the gateway takes evidence; null if it takes none, or if it has some.',
  ).nullable(),
  opened_at: time('When the gateway opened the dispute. The list has its order.'),
  closed_at: time(
    'When the service learned that the dispute has ended; null while it is open.',
  ).nullable(),
  updated_at: time('When the record of the dispute last changed.'),
} satisfies Record<DisputeField, z.ZodType>;

/** A dispute in a response. `presentDispute` writes it. */
export const DisputeResponse = z.strictObject(disputeSchemas).meta({ id: 'Dispute' });
export type DisputeResponse = z.infer<typeof DisputeResponse>;

/** A list of disputes, newest first. */
export const DisputeListResponse = listOf('Dispute', DisputeResponse, paginationFields());
export type DisputeListResponse = z.infer<typeof DisputeListResponse>;
