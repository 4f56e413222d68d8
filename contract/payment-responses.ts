import { z } from 'zod';
import { addedToCallback, CreatePayment } from './create-payment.ts';
import { failureReasons, nextStepOfFailure, nextSteps } from './failure-codes.ts';
import { paymentIdPattern } from './ids.ts';
import { limits } from './limits.ts';
import { sameWithCursor } from './list-payments.ts';
import { amountBounds, currencyExponents } from './money.ts';
import { payerFields } from './payer.ts';
import type { PaymentField } from './payment-fields.ts';
import { listOf, nullableText, openEnum, paginationFields, time } from './response-fields.ts';
import { cancelledBy, statuses } from './status.ts';

const failureCodes = Object.entries(failureReasons).map(
  ([code, sentence]) => `- \`${code}\`: ${sentence}`,
);
const codesOf = (step: (typeof nextSteps)[number]): string =>
  Object.entries(nextStepOfFailure)
    .filter(([, each]) => each === step)
    .map(([code]) => `\`${code}\``)
    .join(', ');
const NextStep = z.enum(nextSteps).meta({
  id: 'NextStep',
  description: [
    'The step that a payer can take after a failure. A closed list:',
    nextSteps.map((step) => `- \`${step}\`, after ${codesOf(step)}`).join('\n'),
  ].join('\n\n'),
});
/** A component of the document, because payments and events have it. */
const FailureCode = z
  .string()
  .regex(/^[a-z_]+$/)
  .meta({
    id: 'FailureCode',
    description: `An open set: new codes may appear.\n\n${failureCodes.join('\n')}`,
  });

export const PaymentId = z
  .string()
  .regex(paymentIdPattern)
  .meta({ description: 'The id of a payment.', examples: ['PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'] });

/** A schema for each field of the list in payment-fields.ts; a missing or unknown one does not compile. */
const paymentSchemas = {
  payment_id: PaymentId,
  application: z.string().meta({ description: 'Slug of the owning application.' }),
  order_id: CreatePayment.shape.order_id,
  status: openEnum(statuses).meta({
    description:
      '`pending`: the payer can pay. `processing`: the payer has returned, the money is on its way or ' +
      'the gateway is silent at the deadline, and the outcome is not certain yet. `paid`, `failed`, ' +
      '`cancelled` and `expired` are final. New statuses are announced in advance.',
  }),
  amount: z.int().min(amountBounds.min).max(amountBounds.max).meta({
    description: 'In minor units of the currency, e.g. cents; IRR in whole rials.',
  }),
  currency: z
    .enum([...currencyExponents.keys()])
    .meta({ id: 'Currency', description: 'ISO 4217 code.' }),
  gateway: z.string().meta({ description: 'Slug of the gateway that takes the payment.' }),
  description: nullableText('As it was sent; null if none was sent.'),
  checkout_url: z
    .url()
    .nullable()
    .meta({ description: "Send the payer's browser here. Null once the payment has ended." }),
  callback_url: z.string().meta({
    description: `The payer's browser returns here. ${addedToCallback}`,
  }),
  tracking_code: nullableText('Tracking code of the gateway; null unless paid.'),
  card_pan_masked: z
    .string()
    .regex(/^\d{6}\*+\d{4}$/)
    .nullable()
    .meta({
      description: 'First six and last four digits of the card; null if the gateway has none.',
    }),
  paid_at: time('When the gateway confirmed the payment to the service.').nullable(),
  failure_code: FailureCode.nullable().meta({ description: 'Null unless failed.' }),
  failure_reason: nullableText(
    'One fixed English sentence for each failure code, which a payer may read.',
  ),
  next_step: NextStep.nullable().meta({
    description: 'The step that the payer can take now; null unless failed.',
  }),
  cancelled_by: openEnum(cancelledBy)
    .nullable()
    .meta({ description: 'The one who called the payment off; null unless cancelled.' }),
  cancellation_reason: nullableText('As it was sent with the cancel; null if none was sent.'),
  amount_refunded: z.int().min(0).meta({
    description:
      'The sum that was given back, in minor units. It may be more than `amount` where somebody gave money back at the gateway.',
  }),
  amount_refund_pending: z
    .int()
    .min(0)
    .meta({ description: 'The sum of the refunds that have not ended, in minor units.' }),
  amount_disputed: z.int().min(0).meta({
    description:
      'The sum that chargebacks of the payer’s bank hold, in minor units: those that are not won. No refund can take it. The payment stays `paid`.',
  }),
  refundable: z.int().min(0).meta({
    description:
      'The sum that can still be refunded, in minor units; 0 unless the payment is paid and the account at its gateway still gives money back. It leaves out money that the gateway cannot give back, as a rest below its least amount.',
  }),
  refundable_until: time(
    'When the account at the gateway stops giving money back; null if the payment is not paid, or without a limit.',
  ).nullable(),
  link_id: nullableText('The link that a payer began the payment with.'),
  test: z.boolean().meta({ description: 'True if a test token created the payment.' }),
  metadata: z.record(z.string(), z.unknown()).meta({
    description: 'As it was sent: the same keys in the same order, the same number literals.',
  }),
  expires_at: time(
    "The payer's deadline. It is not an outcome: if the payer was sent to the gateway, the service asks " +
      'the gateway a last time. A payment may be open, or become `paid`, after it: for up to ' +
      `${limits.graceMinutes} minutes while its money is on its way, and longer while the gateway is silent.`,
  ),
  created_at: time('When the payment was created.'),
  updated_at: time('When its status last changed.'),
} satisfies Record<PaymentField, z.ZodType>;

/** A payment in a response. `presentPayment` writes it, and `presentCreated` that of a create. */
export const PaymentResponse = z
  .strictObject({
    ...paymentSchemas,
    payer_ignored: z.array(openEnum(payerFields)).exactOptional().meta({
      description:
        'Only in the response of a create: the fields of `payer` that the service has left out, because nobody can use what was sent.',
    }),
  })
  .meta({ id: 'Payment' });
export type PaymentResponse = z.infer<typeof PaymentResponse>;

/** A list of payments, newest first. */
export const PaymentListResponse = listOf('Payment', PaymentResponse, {
  page: z.int().min(1).nullable().meta({ description: 'Null if a cursor was sent.' }),
  ...paginationFields(
    `Send it as \`cursor\` to get the next page; null on the last page. ${sameWithCursor}`,
  ),
});
export type PaymentListResponse = z.infer<typeof PaymentListResponse>;
