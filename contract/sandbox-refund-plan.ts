import { z } from 'zod';
import type { FieldError } from './errors.ts';
import { refundFailureReasons, type RefundFailureCode } from './refund-failure-codes.ts';
import { PlanSeconds } from './sandbox-plan.ts';
import { oneOf, requestObject } from './request-fields.ts';

export const sandboxRefundOutcomes = [
  'succeeded',
  'pending',
  'waiting_for_balance',
  'failed',
  'returned',
  'refused',
  'whole_only',
  'answer_lost',
  'request_lost',
] as const;
export type SandboxRefundOutcome = (typeof sandboxRefundOutcomes)[number];

/** How the built-in sandbox gateway carries out a refund of a test. */
export const SandboxRefundPlan = requestObject({
  outcome: oneOf(sandboxRefundOutcomes).meta({
    description:
      '- `succeeded`: the gateway gives the money back at once.\n' +
      '- `pending`: it does so after `after_seconds`.\n' +
      '- `waiting_for_balance`: the same, and until then the balance is too low.\n' +
      '- `failed`: it is pending for `after_seconds`, then fails with `failure_code`.\n' +
      '- `returned`: it succeeds, and the bank sends the money back after `after_seconds`: it is `failed` then.\n' +
      '- `refused`: the gateway refuses it at once with `failure_code`.\n' +
      '- `whole_only`: the gateway refuses it unless it is of the whole amount.\n' +
      '- `answer_lost`: the gateway gives the money back, and its first answer is lost.\n' +
      '- `request_lost`: the gateway never receives the first request.',
  }),
  failure_code: z
    .enum(Object.keys(refundFailureReasons) as RefundFailureCode[], {
      error: 'must be a failure code of a refund',
    })
    .optional()
    .meta({
      description:
        'Only with `failed`, by default `gateway_refused`, and `refused`, by default `insufficient_balance`.',
    }),
  after_seconds: PlanSeconds.default(0).meta({
    description: 'Counted from when the gateway takes the refund on.',
  }),
}).meta({
  id: 'SandboxRefundPlan',
  description:
    'Only where the gateway is the built-in sandbox (rule `sandbox_only`). Without it a refund succeeds at once.',
});
export type SandboxRefundPlan = z.output<typeof SandboxRefundPlan>;

/** Checks the rules that concern more than one field. */
export const sandboxRefundPlanProblems = (
  { outcome, failure_code }: SandboxRefundPlan,
  { driver }: { driver: string },
): FieldError[] => {
  const problems: FieldError[] = [];
  if (driver !== 'sandbox')
    problems.push({
      path: 'sandbox',
      rule: 'sandbox_only',
      message: 'is possible only where the gateway is the built-in sandbox',
    });
  if (failure_code !== undefined && outcome !== 'failed' && outcome !== 'refused')
    problems.push({
      path: 'sandbox.failure_code',
      rule: 'exclusive',
      message: 'must not be given unless the outcome is failed or refused',
    });
  return problems;
};
