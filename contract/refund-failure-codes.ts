/**
 * The codes of a `failed` refund, each with one fixed sentence, never the gateway's own text. Receivers
 * treat it as an open set.
 */
export const refundFailureReasons = {
  insufficient_balance: "The merchant's balance at the gateway is too low.",
  refund_window_over: 'The gateway no longer gives back the money of this payment.',
  not_refundable: 'The gateway cannot give back this amount of this payment.',
  already_refunded: 'The gateway has given the money back before.',
  disputed: 'The payer disputes the payment, so the gateway holds the money.',
  returned_by_bank: "The payer's bank sent the money back.",
  merchant_configuration: 'The gateway account is not able to give money back.',
  gateway_refused: 'The gateway did not carry out the refund.',
  cancelled: 'The refund was cancelled before the gateway carried it out.',
  unknown: 'The refund failed without a known reason.',
} as const;

export type RefundFailureCode = keyof typeof refundFailureReasons;

/** Accepts any code: during a deployment a newer version may have recorded one that is unknown here. */
export const refundFailureReason = (code: string): string =>
  refundFailureReasons[isRefundFailureCode(code) ? code : 'unknown'];

export const isRefundFailureCode = (text: string): text is RefundFailureCode =>
  Object.hasOwn(refundFailureReasons, text);
