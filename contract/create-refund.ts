import type { z } from 'zod';
import { metadataSchema } from './metadata.ts';
import { amountBounds } from './money.ts';
import { refundReasons } from './refund.ts';
import { integerBetween, lengthBetween, oneOf, requestObject } from './request-fields.ts';
import { SandboxRefundPlan } from './sandbox-refund-plan.ts';

/** The body of a create. Unknown fields are rejected. */
export const CreateRefund = requestObject({
  amount: integerBetween(amountBounds)
    .optional()
    .meta({
      description:
        "In minor units of the payment's currency; by default everything that is left. Never more than " +
        '`refundable` of the payment, and never cut down to it.',
    }),
  refundable_amount: integerBetween(amountBounds).optional().meta({
    description:
      'The sum that the caller believes is left. Another number gets `409`, so that of two clerks at the same order one is refused.',
  }),
  reason: oneOf(refundReasons)
    .optional()
    .meta({ description: 'For your own records. It is not sent to the gateway.' }),
  reference: lengthBetween({ min: 0, max: 100 })
    .optional()
    .meta({ description: "The application's own reference of the refund." }),
  metadata: metadataSchema,
  sandbox: SandboxRefundPlan.optional(),
}).meta({ id: 'CreateRefund' });
export type CreateRefund = z.infer<typeof CreateRefund>;
