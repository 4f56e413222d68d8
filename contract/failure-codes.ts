/**
 * The codes of a `failed` payment, each with one fixed sentence, never the gateway's own text. Receivers
 * treat it as an open set.
 */
export const failureReasons = {
  insufficient_funds: 'The card or account does not have enough funds.',
  card_declined: 'The card issuer declined the payment.',
  invalid_card: 'The card number is not valid.',
  expired_card: 'The card has expired.',
  authentication_failed: 'The payer could not be authenticated.',
  limit_exceeded: 'The payment exceeds a limit of the card or account.',
  card_not_supported: 'The card cannot be used for this payment.',
  suspected_fraud: 'The payment was refused for security reasons.',
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

/** Accepts any code: during a deployment a newer version may have recorded one that is unknown here. */
export const failureReason = (code: string): string =>
  failureReasons[isFailureCode(code) ? code : 'unknown'];

export const isFailureCode = (text: string): text is FailureCode =>
  Object.hasOwn(failureReasons, text);
