import { z } from 'zod';
import { refundIdPattern } from './ids.ts';
import { PaymentResponse } from './payment-responses.ts';
import {
  type RefundField,
  refundMethods,
  refundReasons,
  refundRequesters,
  refundStages,
  refundStatuses,
} from './refund.ts';
import { refundFailureReasons } from './refund-failure-codes.ts';
import { listOf, openEnum, paginationFields, time } from './response-fields.ts';

const payment = PaymentResponse.shape;

const failureCodes = Object.entries(refundFailureReasons).map(
  ([code, sentence]) => `- \`${code}\`: ${sentence}`,
);

export const RefundId = z
  .string()
  .regex(refundIdPattern)
  .meta({ description: 'The id of a refund.', examples: ['REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV'] });

/** A schema for each field of the list in refund.ts; a missing or unknown one does not compile. */
const refundSchemas = {
  refund_id: RefundId,
  payment_id: payment.payment_id,
  application: payment.application,
  order_id: payment.order_id,
  status: openEnum(refundStatuses).meta({
    description:
      '`pending`: the amount is reserved, see `stage`. `succeeded`: the gateway gave the money back. `failed`: the ' +
      'amount is refundable again. A `succeeded` refund becomes `failed` if the bank sends the money back.',
  }),
  stage: openEnum(refundStages)
    .nullable()
    .meta({
      description:
        'The stage of a pending refund; null once it has ended. `reserved`: nothing was sent. `sent`: the gateway has not ' +
        'answered. `accepted`: the gateway works on it. `waiting_for_balance`: until the account at the gateway has ' +
        'enough money. `by_hand`: a person finds out what became of it. New stages may appear.',
    }),
  amount: payment.amount,
  currency: payment.currency,
  method: openEnum(refundMethods).meta({
    description: '`refund`: through the gateway. `recorded`: outside of it, e.g. in cash.',
  }),
  requested_by: openEnum(refundRequesters).meta({
    description: 'The one who asked for it. `gateway`: somebody made it at the gateway.',
  }),
  reason: openEnum(refundReasons).nullable(),
  reference: z.string().nullable(),
  bank_reference: z
    .string()
    .nullable()
    .meta({ description: 'The payer’s bank can find the money by it. It may come later.' }),
  failure_code: z
    .string()
    .regex(/^[a-z_]+$/)
    .nullable()
    .meta({
      description: `Null unless failed. An open set: new codes may appear.\n\n${failureCodes.join('\n')}`,
    }),
  failure_reason: z
    .string()
    .nullable()
    .meta({ description: 'One fixed English sentence for each failure code.' }),
  expected_at: time('When the gateway expects to be done; null if it does not say.').nullable(),
  test: payment.test,
  metadata: payment.metadata,
  succeeded_at: time('When the service learned that the money went back.').nullable(),
  failed_at: time('When the service learned that it did not, or came back.').nullable(),
  created_at: time('When the refund was created.'),
  updated_at: time('When its status or stage last changed.'),
} satisfies Record<RefundField, z.ZodType>;

/** A refund in a response. `presentRefund` writes it. */
export const RefundResponse = z.strictObject(refundSchemas).meta({ id: 'Refund' });
export type RefundResponse = z.infer<typeof RefundResponse>;

/** A list of refunds, newest first. */
export const RefundListResponse = listOf('Refund', RefundResponse, paginationFields());
export type RefundListResponse = z.infer<typeof RefundListResponse>;
