import { z } from 'zod';
import type { FieldError } from './errors.ts';
import { failureReasons } from './failure-codes.ts';
import { oneOf, requestObject } from './request-fields.ts';

export const sandboxOutcomes = [
  'paid',
  'failed',
  'cancelled',
  'abandoned',
  'paid_late',
  'other_amount',
  'already_verified',
  'silent',
  'dispute_won',
  'dispute_lost',
  'inquiry_closed',
] as const;
export type SandboxOutcome = (typeof sandboxOutcomes)[number];

const disputes = ['dispute_won', 'dispute_lost', 'inquiry_closed'] as const;
export type SandboxDispute = (typeof disputes)[number];
export const isDispute = (outcome: SandboxOutcome): outcome is SandboxDispute =>
  disputes.some((each) => each === outcome);

const secondsMax = 3_600;
const seconds = `must be an integer from 0 to ${secondsMax}, written without fraction or exponent`;

/** A wait of a plan. */
export const PlanSeconds = z
  .int({ error: seconds })
  .min(0, { error: seconds })
  .max(secondsMax, { error: seconds });

/** How the built-in sandbox gateway plays the payer of a test. */
export const SandboxPlan = requestObject({
  outcome: oneOf(sandboxOutcomes).meta({
    description:
      '- `paid`: the payer pays and comes back.\n' +
      '- `failed`: the payment is refused, with `failure_code`.\n' +
      '- `cancelled`: the payer cancels at the gateway.\n' +
      '- `abandoned`: the payer goes to the gateway and never comes back. The payment ends `expired` at ' +
      'its `expires_at`; with `after_seconds` the gateway lets it expire earlier, and the service finds ' +
      'that out within minutes.\n' +
      '- `paid_late`: the payer pays after the payment has ended `expired`. The money goes back.\n' +
      '- `other_amount`: the gateway confirms one unit more: `failed`, `amount_mismatch`.\n' +
      '- `already_verified`: the first confirmation of the gateway is lost, and a later one says that it ' +
      'was verified before: `processing`, then `paid` within three minutes.\n' +
      '- `silent`: the payer pays, and the gateway does not answer for `after_seconds`: `processing`, ' +
      'then `paid` within three minutes.\n' +
      '- `dispute_won`, `dispute_lost`: the payer pays, and the bank takes the money back at once with a chargeback, ' +
      'which ends after `after_seconds`. The service hears of both within a minute.\n' +
      '- `inquiry_closed`: the same with an inquiry, which takes nothing.',
  }),
  failure_code: z
    .enum(Object.keys(failureReasons) as (keyof typeof failureReasons)[], {
      error: 'must be a failure code',
    })
    .optional()
    .meta({ description: 'Only with `failed`; by default `card_declined`.' }),
  after_seconds: PlanSeconds.default(0).meta({
    description:
      'The payer acts this long after the create. Less than `expires_in`, except for `paid_late` and disputes. For ' +
      '`silent` it is how long the gateway does not answer, and must be given. For a dispute it is how long that is ' +
      'open after the payment; with 0 it has ended when the service hears of it.',
  }),
  returns: z
    .boolean({ error: 'must be true or false' })
    .default(true)
    .meta({
      description:
        'False: the payer closes the browser instead of coming back. The service finds the payment within ' +
        'three minutes. The payer of `paid_late` always comes back.',
    }),
}).meta({
  id: 'SandboxPlan',
  description:
    'Only where the gateway is the built-in sandbox (rule `sandbox_only`). The service plays the payer, so ' +
    'that a test needs no browser: one create, and the webhook comes. The same request gives the same ' +
    'result every time. Without it the page of the sandbox decides.',
});
export type SandboxPlan = z.output<typeof SandboxPlan>;

/** The problem of a plan for another gateway. @param name of that gateway, where there are several */
export const sandboxPlanElsewhere = (name = 'the gateway'): FieldError => ({
  path: 'sandbox',
  rule: 'sandbox_only',
  message: `is possible only where ${name} is the built-in sandbox`,
});

/** Checks the rules that concern more than one field. */
export const sandboxPlanProblems = (
  { outcome, failure_code, after_seconds }: SandboxPlan,
  { expiresIn }: { expiresIn: number },
): FieldError[] => {
  const rules: [isBroken: boolean, path: string, rule: string, message: string][] = [
    [
      failure_code !== undefined && outcome !== 'failed',
      'sandbox.failure_code',
      'exclusive',
      'must not be given unless the outcome is failed',
    ],
    [
      outcome === 'silent' && after_seconds === 0,
      'sandbox.after_seconds',
      'too_small',
      'must be given for silent: for how long the gateway does not answer',
    ],
    [
      outcome !== 'paid_late' && !isDispute(outcome) && after_seconds >= expiresIn,
      'sandbox.after_seconds',
      'too_big',
      'must be less than expires_in',
    ],
  ];
  return rules
    .filter(([isBroken]) => isBroken)
    .map(([, path, rule, message]) => ({ path, rule, message }));
};
