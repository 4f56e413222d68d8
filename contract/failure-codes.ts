/** A payer must not read that fraud is suspected. */
const declined = 'The card issuer declined the payment.';

/**
 * The codes of a `failed` payment, each with one fixed sentence, never the gateway's own text. Shops show it to payers.
 * Receivers treat it as an open set.
 */
export const failureReasons = {
  insufficient_funds: 'The card or account does not have enough funds.',
  card_declined: declined,
  invalid_card: 'The card number is not valid.',
  expired_card: 'The card has expired.',
  authentication_failed: 'The payer could not be authenticated.',
  limit_exceeded: 'The payment exceeds a limit of the card or account.',
  card_not_supported: 'The card cannot be used for this payment.',
  suspected_fraud: declined,
  issuer_unavailable: 'The card issuer could not be reached.',
  gateway_error: 'The payment gateway could not process the payment.',
  merchant_configuration: 'The gateway account is not able to take this payment.',
  amount_not_accepted: 'The payment gateway does not take a payment of this amount.',
  amount_mismatch: 'The gateway confirmed another amount or currency than the payment has.',
  payment_not_completed: 'The payment was not completed at the gateway.',
  order_already_paid: 'The order was paid by another payment, so money that came goes back.',
  payment_reversed: 'The gateway gave the money back before the payment was confirmed.',
  unknown: 'The gateway refused the payment without a known reason.',
} as const;

export type FailureCode = keyof typeof failureReasons;

/** The steps that a payer can take after a failure: a closed list. `shop`: the shop has to mend it. */
export const nextSteps = ['retry', 'other_card', 'call_bank', 'later', 'shop', 'nothing'] as const;
export type NextStep = (typeof nextSteps)[number];

/** The next step of each failure, for the payer's page, the API, the console and docs/codes.md. */
export const nextStepOfFailure: Readonly<Record<FailureCode, NextStep>> = {
  insufficient_funds: 'other_card',
  card_declined: 'call_bank',
  invalid_card: 'retry',
  expired_card: 'other_card',
  authentication_failed: 'retry',
  limit_exceeded: 'other_card',
  card_not_supported: 'other_card',
  suspected_fraud: 'call_bank',
  issuer_unavailable: 'later',
  gateway_error: 'later',
  merchant_configuration: 'shop',
  amount_not_accepted: 'shop',
  amount_mismatch: 'shop',
  payment_not_completed: 'retry',
  order_already_paid: 'nothing',
  payment_reversed: 'retry',
  unknown: 'retry',
};

/** Accepts any code: during a deployment a newer version may have recorded one that is unknown here. */
const known = (code: string): FailureCode => (isFailureCode(code) ? code : 'unknown');

export const failureReason = (code: string): string => failureReasons[known(code)];

export const nextStep = (code: string): NextStep => nextStepOfFailure[known(code)];

export const isFailureCode = (text: string): text is FailureCode =>
  Object.hasOwn(failureReasons, text);
