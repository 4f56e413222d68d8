import type { FailureCode } from '../contract/failure-codes.ts';

/** `decline_code` if Stripe sends one, else `code`. Source: https://docs.stripe.com/declines/codes. */
const codes: Partial<Record<FailureCode, string>> = {
  insufficient_funds: 'insufficient_funds',
  card_declined: 'generic_decline do_not_honor call_issuer card_declined',
  invalid_card: 'incorrect_number invalid_number',
  expired_card: 'expired_card invalid_expiry_month invalid_expiry_year',
  authentication_failed:
    'incorrect_cvc invalid_cvc incorrect_pin authentication_required payment_intent_authentication_failure',
  limit_exceeded: 'card_velocity_exceeded withdrawal_count_limit_exceeded pin_try_exceeded',
  card_not_supported: 'card_not_supported transaction_not_allowed currency_not_supported',
  suspected_fraud: 'fraudulent lost_card stolen_card pickup_card',
  issuer_unavailable: 'issuer_not_available reenter_transaction try_again_later',
  gateway_error: 'processing_error',
  // Source: https://docs.stripe.com/error-codes.
  amount_not_accepted: 'amount_too_small amount_too_large',
  merchant_configuration: 'testmode_decline account_closed account_invalid',
};

const byCode = new Map(
  Object.entries(codes).flatMap(([failure, list]) =>
    // Object.entries loses the type of the keys.
    list.split(' ').map((code) => [code, failure as FailureCode] as const),
  ),
);

/** Without a code, the payer did not complete the payment. */
export const toFailureCode = (code: string | null): FailureCode =>
  code === null ? 'payment_not_completed' : (byCode.get(code) ?? 'unknown');
