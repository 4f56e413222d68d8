import { z } from 'zod';
import { type ErrorCode, errors, fieldRules } from './errors.ts';
import { requestIdPattern } from './ids.ts';
import { limits } from './limits.ts';
import { openEnum } from './response-fields.ts';
import { statuses } from './status.ts';

const refundAmounts = z.strictObject({
  amount: z.int().meta({ description: 'What was paid. All amounts are in minor units.' }),
  amount_refunded: z.int(),
  amount_refund_pending: z.int(),
  amount_disputed: z.int(),
  refundable: z.int(),
});

const details = {
  ORDER_ALREADY_PAID: z.strictObject({
    payment_id: z.string().meta({ description: 'The payment that has paid the order.' }),
  }),
  PAYMENT_NOT_CANCELLABLE: z.strictObject({ status: openEnum(statuses) }),
  REFUND_NOT_ALLOWED: z.strictObject({
    limit: z.int().meta({ description: 'For a day of UTC, in minor units.' }),
    used: z.int().meta({ description: 'The sum that the refunds of today have reserved.' }),
  }),
  REFUND_EXCEEDS_PAYMENT: refundAmounts,
  REFUNDABLE_AMOUNT_CHANGED: refundAmounts,
  REFUND_IN_PROGRESS: refundAmounts,
  VALIDATION_FAILED: z.strictObject({
    fields: z
      .array(
        z.strictObject({
          path: z.string().meta({ description: 'Dotted; empty for the body itself.' }),
          rule: z.string().meta({
            description: `${fieldRules.map((rule) => `\`${rule}\``).join(', ')}. New rules may appear: act on \`code\`.`,
          }),
          message: z.string(),
        }),
      )
      .min(1)
      .max(limits.reportedProblems)
      .meta({ description: `All problems of the request, up to ${limits.reportedProblems}.` }),
  }),
  REPLAY_NOT_POSSIBLE: z
    .strictObject({
      replay_id: z.string().optional().meta({ description: 'The replay that is running.' }),
    })
    .optional(),
  RATE_LIMITED: z.strictObject({
    retry_after: z.int().min(1).meta({ description: 'Seconds, as in `Retry-After`.' }),
  }),
} as const;

const errorResponse = (code: ErrorCode) =>
  z
    .strictObject({
      error: z.strictObject({
        code: z.literal(code),
        message: z.string().min(1),
        ...(code in details && { details: details[code as keyof typeof details] }),
        request_id: z.string().regex(requestIdPattern),
      }),
    })
    .meta({ id: `Error_${code}` });

/** The body of an error response, for each code. */
// The keys are those of `errors`.
export const errorResponses = Object.fromEntries(
  (Object.keys(errors) as ErrorCode[]).map((code) => [code, errorResponse(code)]),
) as Record<ErrorCode, ReturnType<typeof errorResponse>>;
