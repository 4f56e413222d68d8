// `npm run openapi` writes this file from docs/openapi.json.

/** The version of the API that this release was made from. */
export const contractVersion = '1.0.0';

/** ISO 4217 code. */
export type Currency =
  | 'BIF'
  | 'CLP'
  | 'DJF'
  | 'GNF'
  | 'IRR'
  | 'ISK'
  | 'JPY'
  | 'KMF'
  | 'KRW'
  | 'PYG'
  | 'RWF'
  | 'UGX'
  | 'UYI'
  | 'VND'
  | 'VUV'
  | 'XAF'
  | 'XOF'
  | 'XPF'
  | 'AED'
  | 'AFN'
  | 'ALL'
  | 'AMD'
  | 'AOA'
  | 'ARS'
  | 'AUD'
  | 'AWG'
  | 'AZN'
  | 'BAM'
  | 'BBD'
  | 'BDT'
  | 'BMD'
  | 'BND'
  | 'BOB'
  | 'BOV'
  | 'BRL'
  | 'BSD'
  | 'BTN'
  | 'BWP'
  | 'BYN'
  | 'BZD'
  | 'CAD'
  | 'CDF'
  | 'CHE'
  | 'CHF'
  | 'CHW'
  | 'CNY'
  | 'COP'
  | 'COU'
  | 'CRC'
  | 'CUP'
  | 'CVE'
  | 'CZK'
  | 'DKK'
  | 'DOP'
  | 'DZD'
  | 'EGP'
  | 'ERN'
  | 'ETB'
  | 'EUR'
  | 'FJD'
  | 'FKP'
  | 'GBP'
  | 'GEL'
  | 'GHS'
  | 'GIP'
  | 'GMD'
  | 'GTQ'
  | 'GYD'
  | 'HKD'
  | 'HNL'
  | 'HTG'
  | 'HUF'
  | 'IDR'
  | 'ILS'
  | 'INR'
  | 'JMD'
  | 'KES'
  | 'KGS'
  | 'KHR'
  | 'KPW'
  | 'KYD'
  | 'KZT'
  | 'LAK'
  | 'LBP'
  | 'LKR'
  | 'LRD'
  | 'LSL'
  | 'MAD'
  | 'MDL'
  | 'MGA'
  | 'MKD'
  | 'MMK'
  | 'MNT'
  | 'MOP'
  | 'MRU'
  | 'MUR'
  | 'MVR'
  | 'MWK'
  | 'MXN'
  | 'MXV'
  | 'MYR'
  | 'MZN'
  | 'NAD'
  | 'NGN'
  | 'NIO'
  | 'NOK'
  | 'NPR'
  | 'NZD'
  | 'PAB'
  | 'PEN'
  | 'PGK'
  | 'PHP'
  | 'PKR'
  | 'PLN'
  | 'QAR'
  | 'RON'
  | 'RSD'
  | 'RUB'
  | 'SAR'
  | 'SBD'
  | 'SCR'
  | 'SDG'
  | 'SEK'
  | 'SGD'
  | 'SHP'
  | 'SLE'
  | 'SOS'
  | 'SRD'
  | 'SSP'
  | 'STN'
  | 'SVC'
  | 'SYP'
  | 'SZL'
  | 'THB'
  | 'TJS'
  | 'TMT'
  | 'TOP'
  | 'TRY'
  | 'TTD'
  | 'TWD'
  | 'TZS'
  | 'UAH'
  | 'USD'
  | 'USN'
  | 'UYU'
  | 'UZS'
  | 'VED'
  | 'VES'
  | 'WST'
  | 'XAD'
  | 'XCD'
  | 'XCG'
  | 'YER'
  | 'ZAR'
  | 'ZMW'
  | 'ZWG'
  | 'BHD'
  | 'IQD'
  | 'JOD'
  | 'KWD'
  | 'LYD'
  | 'OMR'
  | 'TND'
  | 'CLF'
  | 'UYW';
/**
 * An open set: new codes may appear.
 *
 * - `insufficient_funds`: The card or account does not have enough funds.
 * - `card_declined`: The card issuer declined the payment.
 * - `invalid_card`: The card number is not valid.
 * - `expired_card`: The card has expired.
 * - `authentication_failed`: The payer could not be authenticated.
 * - `limit_exceeded`: The payment exceeds a limit of the card or account.
 * - `card_not_supported`: The card cannot be used for this payment.
 * - `suspected_fraud`: The card issuer declined the payment.
 * - `issuer_unavailable`: The card issuer could not be reached.
 * - `gateway_error`: The payment gateway could not process the payment.
 * - `merchant_configuration`: The gateway account is not able to take this payment.
 * - `amount_not_accepted`: The payment gateway does not take a payment of this amount.
 * - `amount_mismatch`: The gateway confirmed another amount or currency than the payment has.
 * - `payment_not_completed`: The payment was not completed at the gateway.
 * - `order_already_paid`: The order was paid by another payment, so money that came goes back.
 * - `payment_reversed`: The gateway gave the money back before the payment was confirmed.
 * - `unknown`: The gateway refused the payment without a known reason.
 */
export type FailureCode =
  | 'insufficient_funds'
  | 'card_declined'
  | 'invalid_card'
  | 'expired_card'
  | 'authentication_failed'
  | 'limit_exceeded'
  | 'card_not_supported'
  | 'suspected_fraud'
  | 'issuer_unavailable'
  | 'gateway_error'
  | 'merchant_configuration'
  | 'amount_not_accepted'
  | 'amount_mismatch'
  | 'payment_not_completed'
  | 'order_already_paid'
  | 'payment_reversed'
  | 'unknown'
  | (string & {});
/**
 * The step that a payer can take after a failure. A closed list:
 *
 * - `retry`, after `invalid_card`, `authentication_failed`, `payment_not_completed`, `payment_reversed`, `unknown`
 * - `other_card`, after `insufficient_funds`, `expired_card`, `limit_exceeded`, `card_not_supported`
 * - `call_bank`, after `card_declined`, `suspected_fraud`
 * - `later`, after `issuer_unavailable`, `gateway_error`
 * - `shop`, after `merchant_configuration`, `amount_not_accepted`, `amount_mismatch`
 * - `nothing`, after `order_already_paid`
 */
export type NextStep = 'retry' | 'other_card' | 'call_bank' | 'later' | 'shop' | 'nothing';
/** The codes of errors. New codes may appear. */
export type ErrorCode =
  | 'APPLICATION_DISABLED'
  | 'DISPUTE_NOT_FOUND'
  | 'EVENT_NOT_FOUND'
  | 'GATEWAY_NOT_ALLOWED'
  | 'GATEWAY_UNAVAILABLE'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'INSUFFICIENT_SCOPE'
  | 'INTERNAL'
  | 'INVALID_IDEMPOTENCY_KEY'
  | 'INVALID_TOKEN'
  | 'LINK_NOT_FOUND'
  | 'MALFORMED_JSON'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_FOUND'
  | 'ORDER_ALREADY_PAID'
  | 'PAYLOAD_TOO_LARGE'
  | 'PAYMENT_NOT_CANCELLABLE'
  | 'PAYMENT_NOT_FOUND'
  | 'PAYMENT_NOT_REFUNDABLE'
  | 'RATE_LIMITED'
  | 'REFUNDABLE_AMOUNT_CHANGED'
  | 'REFUND_EXCEEDS_PAYMENT'
  | 'REFUND_IN_PROGRESS'
  | 'REFUND_NOT_ALLOWED'
  | 'REFUND_NOT_CANCELLABLE'
  | 'REFUND_NOT_FOUND'
  | 'REFUND_NOT_SUPPORTED'
  | 'REPLAY_NOT_FOUND'
  | 'REPLAY_NOT_POSSIBLE'
  | 'SERVICE_UNAVAILABLE'
  | 'UNAUTHENTICATED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'VALIDATION_FAILED'
  | (string & {});

export interface Application {
  /** Slug of the application. */
  application: string;
  /** A disabled application gets `403 APPLICATION_DISABLED` instead. */
  status: 'active';
  default_gateway: {
    slug: string;
    kind: 'sandbox' | 'live';
  };

  /** Registered callback URLs; the first is the default. */
  callback_urls: string[];
  webhook_url: string | null;
  /** The mode of the token in the request. */
  token_mode: 'live' | 'test';
}

export interface Attempt {
  /** As in `X-Service-Delivery-Attempt`. */
  number: number;
  round: number;
  /** The initiator of the round. */
  trigger: 'schedule' | 'admin' | 'application' | (string & {});
  /** When the attempt began. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  started_at: string;
  completed_at: string | null;
  duration_ms: number | null;
  response_status: number | null;
  /** The class of the failure; null if the receiver accepted the event. `http_status`, `timeout`, `dns`, `connect`, `tls`, `reset`, `protocol`, `blocked` (the address is not public), `no_url`. New classes may appear. */
  error: string | null;
  /** The start of the receiver's answer to a failed attempt, as text, at most 4 KB; kept for 90 days unless the operator has set another number. */
  response_body: string | null;
  response_truncated: boolean;
}

export interface CancelPayment {
  /** For people. It is shown on the payment, and not sent to the gateway. */
  reason?: string | undefined;
}

export interface CreateLink {
  /** The order that the link pays. At most one payment of it is paid, whatever the setting of the application. */
  order_id: string;
  /** In minor units of the currency, e.g. cents; IRR in whole rials. Written as a plain integer, without fraction or exponent. The gateway may accept less (rule `gateway_bounds`) or only whole multiples (rule `gateway_step`). */
  amount: number;
  /** ISO 4217 code. The gateway may accept fewer currencies (rule `gateway_currency`). */
  currency: Currency;
  /** Shown to the payer, on the page and at the gateway. */
  description?: string;
  /** The language of the page, until the payer chooses another one there. */
  locale?: 'en' | 'fa' | 'de' | 'ar' | 'tr';
  /** Seconds until nobody can begin to pay, by default 30 days. A payment that has begun goes on. By default `2592000`. */
  expires_in?: number;
}

export interface CreatePayment {
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** In minor units of the currency, e.g. cents; IRR in whole rials. Written as a plain integer, without fraction or exponent. The gateway may accept less (rule `gateway_bounds`) or only whole multiples (rule `gateway_step`). */
  amount: number;
  /** ISO 4217 code. The gateway may accept fewer currencies (rule `gateway_currency`). */
  currency: Currency;
  /** The payer's browser returns here. Must equal one of the registered callback URLs; the first is the default. The service adds `payment_id`, `order_id` and `status` to its query. */
  callback_url?: string | undefined;
  /** Slug of an enabled gateway, the only one that is asked; by default the application's. A test token may use only sandbox gateways. */
  gateway?: string | undefined;
  /** Slugs of gateways that may take the payment, instead of `gateway`. They are asked in this order until one opens the payment, which stays there. Gateways that are disabled or do not take its amount, currency or time are left out; if none is left, the create is rejected with the reasons of each. All are live, or all are sandboxes (rule `kind`). By default the application's list. */
  gateways?: string[] | undefined;
  /** Shown to the payer at the gateway. */
  description?: string | undefined;
  /** Stored and returned as it was sent. At most 8192 bytes as sent, nested at most 5 levels deep. */
  metadata?:
    | {
        [k: string]: unknown;
      }
    | undefined;
  /** Seconds that the payer has to pay. Written as a plain integer, without fraction or exponent. The gateway may accept less (rule `gateway_bounds`). By default `1800`. */
  expires_in?: number | undefined;
  payer?: Payer | undefined;
  sandbox?: SandboxPlan | undefined;
}

/** The gateway may know this of the payer, e.g. to fill in its form. It costs no payment: what the service cannot use is left out, and `payer_ignored` of the response names the field; an empty text counts as not sent. Each gateway gets the fields that it has a place for; all but the locale are erased as soon as the payment is opened, and no response, event or log has them. */
export interface Payer {
  /** `+` or `00`, country code and number, or an Iranian one like `09121234567`; with separators, in the digits of any script. */
  mobile?: string;
  /** One address of at most 254 characters. Only its domain may have letters beyond ASCII. */
  email?: string;
  /** The full name: 1 to 100 characters, none of which controls the text. */
  name?: string;
  /** A language tag like `fa`, `de-AT` or `en_US.UTF-8`, the first choice for the payer's pages. For one that they lack, the browser decides. */
  locale?: string;
}

/** Only where the gateway is the built-in sandbox (rule `sandbox_only`). The service plays the payer, so that a test needs no browser: one create, and the webhook comes. The same request gives the same result every time. Without it the page of the sandbox decides. */
export interface SandboxPlan {
  /**
   * - `paid`: the payer pays and comes back.
   * - `failed`: the payment is refused, with `failure_code`.
   * - `cancelled`: the payer cancels at the gateway.
   * - `abandoned`: the payer goes to the gateway and never comes back. The payment ends `expired` at its `expires_at`; with `after_seconds` the gateway lets it expire earlier, and the service finds that out within minutes.
   * - `paid_late`: the payer pays after the payment has ended `expired`. The money goes back.
   * - `other_amount`: the gateway confirms one unit more: `failed`, `amount_mismatch`.
   * - `already_verified`: the first confirmation of the gateway is lost, and a later one says that it was verified before: `processing`, then `paid` within three minutes.
   * - `silent`: the payer pays, and the gateway does not answer for `after_seconds`: `processing`, then `paid` within three minutes.
   * - `dispute_won`, `dispute_lost`: the payer pays, and the bank takes the money back at once with a chargeback, which ends after `after_seconds`. The service hears of both within a minute.
   * - `inquiry_closed`: the same with an inquiry, which takes nothing.
   */
  outcome:
    | 'paid'
    | 'failed'
    | 'cancelled'
    | 'abandoned'
    | 'paid_late'
    | 'other_amount'
    | 'already_verified'
    | 'silent'
    | 'dispute_won'
    | 'dispute_lost'
    | 'inquiry_closed';
  /** Only with `failed`; by default `card_declined`. */
  failure_code?:
    | (
        | 'insufficient_funds'
        | 'card_declined'
        | 'invalid_card'
        | 'expired_card'
        | 'authentication_failed'
        | 'limit_exceeded'
        | 'card_not_supported'
        | 'suspected_fraud'
        | 'issuer_unavailable'
        | 'gateway_error'
        | 'merchant_configuration'
        | 'amount_not_accepted'
        | 'amount_mismatch'
        | 'payment_not_completed'
        | 'order_already_paid'
        | 'payment_reversed'
        | 'unknown'
      )
    | undefined;
  /** The payer acts this long after the create. Less than `expires_in`, except for `paid_late` and disputes. For `silent` it is how long the gateway does not answer, and must be given. For a dispute it is how long that is open after the payment; with 0 it has ended when the service hears of it. By default `0`. */
  after_seconds?: number | undefined;
  /** False: the payer closes the browser instead of coming back. The service finds the payment within three minutes. The payer of `paid_late` always comes back. By default `true`. */
  returns?: boolean | undefined;
}

export interface CreateRefund {
  /** In minor units of the payment's currency; by default everything that is left. Never more than `refundable` of the payment, and never cut down to it. */
  amount?: number | undefined;
  /** The sum that the caller believes is left. Another number gets `409`, so that of two clerks at the same order one is refused. */
  refundable_amount?: number | undefined;
  /** For your own records. It is not sent to the gateway. */
  reason?: ('requested_by_customer' | 'duplicate' | 'fraudulent' | 'other') | undefined;
  /** The application's own reference of the refund. */
  reference?: string | undefined;
  /** Stored and returned as it was sent. At most 8192 bytes as sent, nested at most 5 levels deep. */
  metadata?:
    | {
        [k: string]: unknown;
      }
    | undefined;
  sandbox?: SandboxRefundPlan | undefined;
}

/** Only where the gateway is the built-in sandbox (rule `sandbox_only`). Without it a refund succeeds at once. */
export interface SandboxRefundPlan {
  /**
   * - `succeeded`: the gateway gives the money back at once.
   * - `pending`: it does so after `after_seconds`.
   * - `waiting_for_balance`: the same, and until then the balance is too low.
   * - `failed`: it is pending for `after_seconds`, then fails with `failure_code`.
   * - `returned`: it succeeds, and the bank sends the money back after `after_seconds`: it is `failed` then.
   * - `refused`: the gateway refuses it at once with `failure_code`.
   * - `whole_only`: the gateway refuses it unless it is of the whole amount.
   * - `answer_lost`: the gateway gives the money back, and its first answer is lost.
   * - `request_lost`: the gateway never receives the first request.
   */
  outcome:
    | 'succeeded'
    | 'pending'
    | 'waiting_for_balance'
    | 'failed'
    | 'returned'
    | 'refused'
    | 'whole_only'
    | 'answer_lost'
    | 'request_lost';
  /** Only with `failed`, by default `gateway_refused`, and `refused`, by default `insufficient_balance`. */
  failure_code?:
    | (
        | 'insufficient_balance'
        | 'refund_window_over'
        | 'not_refundable'
        | 'already_refunded'
        | 'disputed'
        | 'returned_by_bank'
        | 'merchant_configuration'
        | 'gateway_refused'
        | 'cancelled'
        | 'unknown'
      )
    | undefined;
  /** Counted from when the gateway takes the refund on. By default `0`. */
  after_seconds?: number | undefined;
}

export interface CreateReplay {
  /** Events created at this time or later. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from: string;
  /** Events created before this time; a date includes its whole day in UTC. At most 31 days after `from`. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to: string;
  /** The events whose delivery has this status. By default `exhausted`. */
  delivery?: ('exhausted' | 'delivered') | undefined;
  /** True only counts the events, and replays nothing. By default `false`. */
  dry_run?: boolean | undefined;
}

export interface Delivery {
  /** `pending`: attempts go on. `delivered`: the receiver answered with a 2xx status, which does not mean that it has worked on the event. `exhausted`: all attempts of the round failed. `none`: the application had no webhook URL when the event was made; it stays `none`, and the feed is how it is read. New statuses may appear. */
  status: 'pending' | 'delivered' | 'exhausted' | 'none' | (string & {});
  /** A round has up to 6 attempts. A replay begins the next one. */
  round: number;
  /** The attempts that are left in this round; 0 unless `pending`. */
  attempts_left: number;
  next_attempt_at: string | null;
  delivered_at: string | null;
}

export interface Dispute {
  /** The id of a dispute. */
  dispute_id: string;
  /** The id of a payment. */
  payment_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** Slug of the gateway that takes the payment. */
  gateway: string;
  /** True if a test token created the payment. */
  test: boolean;
  /** `inquiry`: the payer’s bank asks about the money. `chargeback`: it takes the money. New stages may appear. */
  stage: 'inquiry' | 'chargeback' | (string & {});
  /** `needs_response`: the gateway waits for evidence until `respond_by`. `under_review`: the bank decides. `won`: the money comes back. `lost`: it does not. `closed`: the inquiry has ended, or the gateway has prevented the chargeback. A `won` dispute may open again: the bank can take the money a second time. New statuses may appear. */
  status: 'needs_response' | 'under_review' | 'won' | 'lost' | 'closed' | (string & {});
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  /** The amount that no refund can take: that of the dispute while it is a chargeback that is neither `won` nor `closed`, else 0. `amount_disputed` of the payment is the sum, in which one of another currency counts as the whole payment. */
  amount_held: number;
  currency: Currency;
  /** The reason, in the gateway’s word. An open set: new words may appear. */
  reason: string | null;
  /** The reason, as the code of the card’s network. */
  network_reason: string | null;
  respond_by: string | null;
  /** When the gateway opened the dispute. The list has its order. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  opened_at: string;
  closed_at: string | null;
  /** When the record of the dispute last changed. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  updated_at: string;
}

export interface DisputeEvent {
  /** `dispute.opened`: the service has just heard of the dispute, and it is open. `dispute.updated`: its status, stage, amount, currency or deadline has changed. `dispute.closed`: it was won or lost, or has ended otherwise. A dispute that was closed before the service heard of it has no `dispute.opened`. `dispute.updated` may follow `dispute.closed`: the payer’s bank has taken the money again. New kinds may appear. */
  event: 'dispute.opened' | 'dispute.updated' | 'dispute.closed' | (string & {});
  /** The same in every attempt: ignore an event that you have processed. */
  event_id: string;
  /** When the service heard of the change. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** The id of a dispute. */
  dispute_id: string;
  /** Rises with each change of the dispute, and may skip numbers. Events are delivered independently of each other: act on the one with the highest number. */
  sequence: number;
  /** `inquiry`: the payer’s bank asks about the money. `chargeback`: it takes the money. New stages may appear. */
  stage: 'inquiry' | 'chargeback' | (string & {});
  /** `needs_response`: the gateway waits for evidence until `respond_by`. `under_review`: the bank decides. `won`: the money comes back. `lost`: it does not. `closed`: the inquiry has ended, or the gateway has prevented the chargeback. A `won` dispute may open again: the bank can take the money a second time. New statuses may appear. */
  status: 'needs_response' | 'under_review' | 'won' | 'lost' | 'closed' | (string & {});
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  /** The amount that no refund can take: that of the dispute while it is a chargeback that is neither `won` nor `closed`, else 0. `amount_disputed` of the payment is the sum, in which one of another currency counts as the whole payment. */
  amount_held: number;
  currency: Currency;
  /** The reason, in the gateway’s word. An open set: new words may appear. */
  reason: string | null;
  /** The reason, as the code of the card’s network. */
  network_reason: string | null;
  respond_by: string | null;
  /** When the gateway opened the dispute. The list has its order. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  opened_at: string;
  closed_at: string | null;
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  payment_amount: number;
  payment_currency: Currency;
  /** The id of a payment. */
  payment_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** Tracking code of the gateway; null unless paid. */
  tracking_code: string | null;
  /** First six and last four digits of the card; null if the gateway has none. */
  card_pan_masked: string | null;
  paid_at: string | null;
  /** Null unless failed. */
  failure_code: FailureCode | null;
  /** One fixed English sentence for each failure code, which a payer may read. */
  failure_reason: string | null;
  /** True if a test token created the payment. Events of both modes come to the same webhook URL with the same signature: compare it with your order before you act. */
  test: boolean;
  /** As it was sent: the same keys in the same order, the same number literals. */
  metadata: {
    [k: string]: unknown;
  };

  /** The sum that was given back, in minor units. It may be more than `amount` where somebody gave money back at the gateway. */
  amount_refunded: number;
  /** The sum of the refunds that have not ended, in minor units. */
  amount_refund_pending: number;
  /** The sum that chargebacks of the payer’s bank hold, in minor units: those that are not won. No refund can take it. The payment stays `paid`. */
  amount_disputed: number;
}

export interface DisputeList {
  data: Dispute[];
  pagination: DisputePagination;
}

export interface DisputePagination {
  per_page: number;
  has_more: boolean;
  /** Send it as `cursor` to get the next page; null on the last page. */
  next_cursor: string | null;
}

export interface Event {
  /** The kind of the event. New kinds may appear. */
  event:
    'payment.paid' | 'payment.failed' | 'payment.cancelled' | 'payment.expired' | (string & {});
  /** The same in every attempt: ignore an event that you have processed. */
  event_id: string;
  /** When the payment ended, not when it was created. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** The id of a payment. */
  payment_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  status: 'paid' | 'failed' | 'cancelled' | 'expired' | (string & {});
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  currency: Currency;
  /** Tracking code of the gateway; null unless paid. */
  tracking_code: string | null;
  /** First six and last four digits of the card; null if the gateway has none. */
  card_pan_masked: string | null;
  paid_at: string | null;
  /** Null unless failed. */
  failure_code: FailureCode | null;
  /** One fixed English sentence for each failure code, which a payer may read. */
  failure_reason: string | null;
  /** True if a test token created the payment. Events of both modes come to the same webhook URL with the same signature: compare it with your order before you act. */
  test: boolean;
  /** As it was sent: the same keys in the same order, the same number literals. */
  metadata: {
    [k: string]: unknown;
  };

  /** The one who called the payment off; only in `payment.cancelled`. */
  cancelled_by?: 'payer' | 'application' | 'admin' | (string & {});
  /** The link that the payer paid with; only of a payment that has one. */
  link_id?: string;
}

export interface EventDetail {
  /** The same in every attempt: ignore an event that you have processed. */
  event_id: string;
  event:
    | 'payment.paid'
    | 'payment.failed'
    | 'payment.cancelled'
    | 'payment.expired'
    | 'refund.created'
    | 'refund.succeeded'
    | 'refund.failed'
    | 'dispute.opened'
    | 'dispute.updated'
    | 'dispute.closed'
    | 'link.paid'
    | 'link.expired'
    | (string & {});
  /** When the payment ended, not when it was created. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** The id of a payment. */
  payment_id: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** True if a test token created the payment. */
  test: boolean;
  delivery: Delivery;
  links: {
    payment: string;
    /** Post here to deliver the event again; null if that is not possible now. */
    replay: string | null;
  };
  payload: Event;
  /** In their order. */
  attempts: Attempt[];
}

export interface EventList {
  data: EventSummary[];
  pagination: EventPagination;
}

export interface EventSummary {
  /** The same in every attempt: ignore an event that you have processed. */
  event_id: string;
  event:
    | 'payment.paid'
    | 'payment.failed'
    | 'payment.cancelled'
    | 'payment.expired'
    | 'refund.created'
    | 'refund.succeeded'
    | 'refund.failed'
    | 'dispute.opened'
    | 'dispute.updated'
    | 'dispute.closed'
    | 'link.paid'
    | 'link.expired'
    | (string & {});
  /** When the payment ended, not when it was created. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** The id of a payment. */
  payment_id: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** True if a test token created the payment. */
  test: boolean;
  delivery: Delivery;
  links: {
    payment: string;
    /** Post here to deliver the event again; null if that is not possible now. */
    replay: string | null;
  };
  payload?: Event;
}

export interface EventPagination {
  per_page: number;
  has_more: boolean;
  /** Send it as `cursor` to get the next page. With `order=asc` it is there on the last page too: keep it, and continue from it later. Null on the last page of `desc`, and for an empty feed. */
  next_cursor: string | null;
}

export interface Gateway {
  /** For `gateway` and `gateways` of a create. */
  slug: string;
  kind: 'sandbox' | 'live';
  /** 1 for the application's default gateway, then its fallback gateways in the order of asking. Null: only a create that names it uses it. */
  position: number | null;
  currencies: {
    /** ISO 4217 code. */
    currency: string;
    /** The least amount, in minor units. */
    min: number;
    /** The largest amount, in minor units. */
    max: number;
    /** Amounts are whole multiples of it. */
    step: number;
  }[];
  /** The bounds of `expires_in` of a create, in seconds. */
  expires_in: {
    min: number;
    max: number;
  };

  /** Null: the account gives no money back through this service. */
  refunds: {
    /** False: the whole amount only. */
    partial: boolean;
    /** The least amount of a refund, in minor units. */
    least: number;
  } | null;
  /** False while the gateway opens no payments: its last openings failed in a row. It is then asked after the others, for 30 seconds to 5 minutes. */
  answers: boolean;
}

export interface GatewayList {
  data: Gateway[];
}

export interface Link {
  /** The id of a link. */
  link_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** `open`: it can be paid. `paid`: a payment of it is paid. `expired`: nobody has paid in time. `disabled`: nobody can begin to pay any more; one who has begun may still make it `paid`. New statuses may appear. */
  status: 'open' | 'paid' | 'expired' | 'disabled' | (string & {});
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  currency: Currency;
  /** As it was sent; null if none was sent. */
  description: string | null;
  /** The language of the page. */
  locale: string | null;
  /** The page. Send it to the payer. To open it changes nothing. */
  url: string;
  /** The payment that has paid it. */
  payment_id: string | null;
  /** True if a test token created the payment. */
  test: boolean;
  /** From then on nobody can begin to pay. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  expires_at: string;
  /** When the link was made. The list has its order. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  paid_at: string | null;
  disabled_at: string | null;
}

export interface LinkEvent {
  /** `link.paid`: a payment of the link is paid; that payment has its own event, too. `link.expired`: nobody has paid in time. A link has one of them at most. New kinds may appear. */
  event: 'link.paid' | 'link.expired' | (string & {});
  /** The same in every attempt: ignore an event that you have processed. */
  event_id: string;
  /** When the link ended. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** The payment that has paid the link, or its last try. If nobody has tried, an id that no payment has. */
  payment_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** `pending`: the payer can pay. `processing`: the payer has returned, the money is on its way or the gateway is silent at the deadline, and the outcome is not certain yet. `paid`, `failed`, `cancelled` and `expired` are final. New statuses are announced in advance. */
  status: 'pending' | 'processing' | 'paid' | 'failed' | 'cancelled' | 'expired' | (string & {});
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  currency: Currency;
  /** Tracking code of the gateway; null unless paid. */
  tracking_code: string | null;
  /** First six and last four digits of the card; null if the gateway has none. */
  card_pan_masked: string | null;
  paid_at: string | null;
  /** Null unless failed. */
  failure_code: FailureCode | null;
  /** One fixed English sentence for each failure code, which a payer may read. */
  failure_reason: string | null;
  /** True if a test token created the payment. Events of both modes come to the same webhook URL with the same signature: compare it with your order before you act. */
  test: boolean;
  /** As it was sent: the same keys in the same order, the same number literals. */
  metadata: {
    [k: string]: unknown;
  };

  /** The id of a link. */
  link_id: string;
}

export interface LinkList {
  data: Link[];
  pagination: LinkPagination;
}

export interface LinkPagination {
  per_page: number;
  has_more: boolean;
  /** Send it as `cursor` to get the next page; null on the last page. */
  next_cursor: string | null;
}

export interface Movement {
  /** The id of a movement. */
  movement_id: string;
  /** `refund_elsewhere`: somebody gave the money back outside of the gateway. `refund_returned`: the bank of the payer sent the money of a refund back. `late_payment`: money that came after the payment had ended without it. `late_reversal`: it went back. `fee`: what the gateway kept, or gave back of it. `chargeback`: a dispute, a debit that the bank of the payer took back, or the reversal of one. New kinds may appear. */
  kind:
    | 'payment'
    | 'refund'
    | 'refund_elsewhere'
    | 'refund_returned'
    | 'late_payment'
    | 'late_reversal'
    | 'fee'
    | 'chargeback'
    | 'chargeback_returned'
    | 'payout'
    | 'payout_returned'
    | (string & {});
  /** The id of a payment. */
  payment_id: string;
  /** Null unless it is of a refund. */
  refund_id: string | null;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** Slug of the gateway whose account it is. */
  gateway: string;
  /** The gateway's own id of the payment, the refund, or the fee. */
  reference: string | null;
  /** In minor units of the currency; negative for money that leaves the account. */
  amount: number;
  currency: Currency;
  /** True if a test token created the payment. */
  test: boolean;
  /** The day of the account, in the account's time zone, to which it belongs. */
  day: string;
  /** The day on which it happened, if that is an earlier one: a closed day gets no more movements. Null otherwise. */
  earlier_day: string | null;
  /** When the money moved, or the service learned of it. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  occurred_at: string;
  /** When the movement was recorded. The list has its order. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  recorded_at: string;
}

export interface MovementList {
  data: Movement[];
  pagination: MovementPagination;
}

export interface MovementPagination {
  per_page: number;
  has_more: boolean;
  /** Send it as `cursor` to get the next page; null on the last page. */
  next_cursor: string | null;
}

export interface Payment {
  /** The id of a payment. */
  payment_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** `pending`: the payer can pay. `processing`: the payer has returned, the money is on its way or the gateway is silent at the deadline, and the outcome is not certain yet. `paid`, `failed`, `cancelled` and `expired` are final. New statuses are announced in advance. */
  status: 'pending' | 'processing' | 'paid' | 'failed' | 'cancelled' | 'expired' | (string & {});
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  currency: Currency;
  /** Slug of the gateway that takes the payment. */
  gateway: string;
  /** As it was sent; null if none was sent. */
  description: string | null;
  /** Send the payer's browser here. Null once the payment has ended. */
  checkout_url: string | null;
  /** The payer's browser returns here. The service adds `payment_id`, `order_id` and `status` to its query. */
  callback_url: string;
  /** Tracking code of the gateway; null unless paid. */
  tracking_code: string | null;
  /** First six and last four digits of the card; null if the gateway has none. */
  card_pan_masked: string | null;
  paid_at: string | null;
  /** Null unless failed. */
  failure_code: FailureCode | null;
  /** One fixed English sentence for each failure code, which a payer may read. */
  failure_reason: string | null;
  /** The step that the payer can take now; null unless failed. */
  next_step: NextStep | null;
  /** The one who called the payment off; null unless cancelled. */
  cancelled_by: 'payer' | 'application' | 'admin' | (string & {}) | null;
  /** As it was sent with the cancel; null if none was sent. */
  cancellation_reason: string | null;
  /** The sum that was given back, in minor units. It may be more than `amount` where somebody gave money back at the gateway. */
  amount_refunded: number;
  /** The sum of the refunds that have not ended, in minor units. */
  amount_refund_pending: number;
  /** The sum that chargebacks of the payer’s bank hold, in minor units: those that are not won. No refund can take it. The payment stays `paid`. */
  amount_disputed: number;
  /** The sum that can still be refunded, in minor units; 0 unless the payment is paid and the account at its gateway still gives money back. It leaves out money that the gateway cannot give back, as a rest below its least amount. */
  refundable: number;
  refundable_until: string | null;
  /** The link that a payer began the payment with. */
  link_id: string | null;
  /** True if a test token created the payment. */
  test: boolean;
  /** As it was sent: the same keys in the same order, the same number literals. */
  metadata: {
    [k: string]: unknown;
  };

  /** The payer's deadline. It is not an outcome: if the payer was sent to the gateway, the service asks the gateway a last time. A payment may be open, or become `paid`, after it: for up to 15 minutes while its money is on its way, and longer while the gateway is silent. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  expires_at: string;
  /** When the payment was created. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** When its status last changed. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  updated_at: string;
  /** Only in the response of a create: the fields of `payer` that the service has left out, because nobody can use what was sent. */
  payer_ignored?: ('mobile' | 'email' | 'name' | 'locale' | (string & {}))[];
}

export interface PaymentList {
  data: Payment[];
  pagination: PaymentPagination;
}

export interface PaymentPagination {
  /** Null if a cursor was sent. */
  page: number | null;
  per_page: number;
  has_more: boolean;
  /** Send it as `cursor` to get the next page; null on the last page. Send the same filters and `per_page` with it. */
  next_cursor: string | null;
}

export interface Refund {
  /** The id of a refund. */
  refund_id: string;
  /** The id of a payment. */
  payment_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** `pending`: the amount is reserved, see `stage`. `succeeded`: the gateway gave the money back. `failed`: the amount is refundable again. A `succeeded` refund becomes `failed` if the bank sends the money back. */
  status: 'pending' | 'succeeded' | 'failed' | (string & {});
  /** The stage of a pending refund; null once it has ended. `reserved`: nothing was sent. `sent`: the gateway has not answered. `accepted`: the gateway works on it. `waiting_for_balance`: until the account at the gateway has enough money. `by_hand`: a person finds out what became of it. New stages may appear. */
  stage:
    'reserved' | 'sent' | 'accepted' | 'waiting_for_balance' | 'by_hand' | (string & {}) | null;
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  currency: Currency;
  /** `refund`: through the gateway. `recorded`: outside of it, e.g. in cash. */
  method: 'refund' | 'recorded' | (string & {});
  /** The one who asked for it. `gateway`: somebody made it at the gateway. */
  requested_by: 'application' | 'admin' | 'gateway' | (string & {});
  reason: 'requested_by_customer' | 'duplicate' | 'fraudulent' | 'other' | (string & {}) | null;
  reference: string | null;
  /** The payer’s bank can find the money by it. It may come later. */
  bank_reference: string | null;
  /**
   * Null unless failed. An open set: new codes may appear.
   *
   * - `insufficient_balance`: The merchant's balance at the gateway is too low.
   * - `refund_window_over`: The gateway no longer gives back the money of this payment.
   * - `not_refundable`: The gateway cannot give back this amount of this payment.
   * - `already_refunded`: The gateway has given the money back before.
   * - `disputed`: The payer disputes the payment, so the gateway holds the money.
   * - `returned_by_bank`: The payer's bank sent the money back.
   * - `merchant_configuration`: The gateway account is not able to give money back.
   * - `gateway_refused`: The gateway did not carry out the refund.
   * - `cancelled`: The refund was cancelled before the gateway carried it out.
   * - `unknown`: The refund failed without a known reason.
   */
  failure_code: string | null;
  /** One fixed English sentence for each failure code. */
  failure_reason: string | null;
  expected_at: string | null;
  /** True if a test token created the payment. */
  test: boolean;
  /** As it was sent: the same keys in the same order, the same number literals. */
  metadata: {
    [k: string]: unknown;
  };
  succeeded_at: string | null;
  failed_at: string | null;
  /** When the refund was created. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** When its status or stage last changed. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  updated_at: string;
}

export interface RefundEvent {
  /** `refund.created`: the application did not ask for this refund. `refund.failed` may follow `refund.succeeded`: the bank sent the money back. New kinds may appear. */
  event: 'refund.created' | 'refund.succeeded' | 'refund.failed' | (string & {});
  /** The same in every attempt: ignore an event that you have processed. */
  event_id: string;
  /** When the refund came to this state. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  /** The id of a refund. */
  refund_id: string;
  /** Events of a refund are delivered independently of each other: act on the one with the highest number. */
  sequence: number;
  /** The id of a payment. */
  payment_id: string;
  /** Slug of the owning application. */
  application: string;
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** `pending`: the amount is reserved, see `stage`. `succeeded`: the gateway gave the money back. `failed`: the amount is refundable again. A `succeeded` refund becomes `failed` if the bank sends the money back. */
  status: 'pending' | 'succeeded' | 'failed' | (string & {});
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  amount: number;
  currency: Currency;
  /** In minor units of the currency, e.g. cents; IRR in whole rials. */
  payment_amount: number;
  /** The sum that was given back, in minor units. It may be more than `amount` where somebody gave money back at the gateway. */
  amount_refunded: number;
  /** The sum of the refunds that have not ended, in minor units. */
  amount_refund_pending: number;
  /** Tracking code of the gateway; null unless paid. */
  tracking_code: string | null;
  /** First six and last four digits of the card; null if the gateway has none. */
  card_pan_masked: string | null;
  paid_at: string | null;
  /** The one who asked for it. `gateway`: somebody made it at the gateway. */
  requested_by: 'application' | 'admin' | 'gateway' | (string & {});
  reason: 'requested_by_customer' | 'duplicate' | 'fraudulent' | 'other' | (string & {}) | null;
  reference: string | null;
  /**
   * Null unless failed. An open set: new codes may appear.
   *
   * - `insufficient_balance`: The merchant's balance at the gateway is too low.
   * - `refund_window_over`: The gateway no longer gives back the money of this payment.
   * - `not_refundable`: The gateway cannot give back this amount of this payment.
   * - `already_refunded`: The gateway has given the money back before.
   * - `disputed`: The payer disputes the payment, so the gateway holds the money.
   * - `returned_by_bank`: The payer's bank sent the money back.
   * - `merchant_configuration`: The gateway account is not able to give money back.
   * - `gateway_refused`: The gateway did not carry out the refund.
   * - `cancelled`: The refund was cancelled before the gateway carried it out.
   * - `unknown`: The refund failed without a known reason.
   */
  failure_code: string | null;
  /** One fixed English sentence for each failure code. */
  failure_reason: string | null;
  /** True if a test token created the payment. Events of both modes come to the same webhook URL with the same signature: compare it with your order before you act. */
  test: boolean;
  /** As it was sent: the same keys in the same order, the same number literals. */
  metadata: {
    [k: string]: unknown;
  };
}

export interface RefundList {
  data: Refund[];
  pagination: RefundPagination;
}

export interface RefundPagination {
  per_page: number;
  has_more: boolean;
  /** Send it as `cursor` to get the next page; null on the last page. */
  next_cursor: string | null;
}

export interface Replay {
  /** The id of a replay. */
  replay_id: string;
  /** It stops when asked to, or when the application has no webhook URL any more. */
  status: 'running' | 'done' | 'stopped' | (string & {});
  delivery: 'exhausted' | 'delivered' | (string & {});
  /** As sent; a date as its first moment. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  from: string;
  /** As sent; a date as the end of its day. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  to: string;
  /** Events that matched at the start. */
  matched: number;
  /** Events whose next round has begun. */
  begun: number;
  /** Events that had another status when their turn came. */
  refused: number;
  /** When the replay was created. ISO 8601 in UTC with milliseconds, written `+00:00`. */
  created_at: string;
  ended_at: string | null;
}

export interface ReplayPlan {
  /** Events that matched at the start. */
  matched: number;
}

export interface TestWebhook {
  /** The kind of the sample. By default `payment.paid`. */
  event?:
    | (
        | 'payment.paid'
        | 'payment.failed'
        | 'payment.cancelled'
        | 'payment.expired'
        | 'refund.created'
        | 'refund.succeeded'
        | 'refund.failed'
        | 'dispute.opened'
        | 'dispute.updated'
        | 'dispute.closed'
        | 'link.paid'
        | 'link.expired'
      )
    | undefined;
}

export interface Webhook {
  /** `failing`: an event was refused three times or more. `exhausted`: an event has no attempt left. Both end when the receiver accepts an event. `none`: the application has no webhook URL. */
  state: 'ok' | 'failing' | 'exhausted' | 'none' | (string & {});
  since: string | null;
  /** Events that are not delivered yet. Counted to 1,000. */
  waiting: number;
  /** Events that have no attempt left; a replay delivers them again. Counted to 1,000. */
  exhausted: number;
  /** The class of the last failure, as of an attempt; null unless the state is `failing` or `exhausted`. */
  last_error: string | null;
  last_accepted_at: string | null;
  next_attempt_at: string | null;
}

export interface WebhookTest {
  /** The body that was sent, an event of a payment that does not exist; null if nothing was sent. */
  sent: {
    [k: string]: unknown;
  } | null;
  response_status: number | null;
  duration_ms: number | null;
  /** The class of the failure, as of an attempt; null if the receiver accepted it. */
  error: string | null;
  /** The start of the receiver's answer, at most 4 KB; null if it accepted the event. */
  response_body: string | null;
  response_truncated: boolean;
}

/** With some codes. New members may appear. */
export interface ErrorDetails {
  /** The payment that has paid the order. */
  payment_id?: string;
  status?: 'pending' | 'processing' | 'paid' | 'failed' | 'cancelled' | 'expired' | (string & {});
  /** Seconds, as in `Retry-After`. */
  retry_after?: number;
  /** What was paid. All amounts are in minor units. */
  amount?: number;
  amount_refunded?: number;
  amount_refund_pending?: number;
  amount_disputed?: number;
  refundable?: number;
  /** For a day of UTC, in minor units. */
  limit?: number;
  /** The sum that the refunds of today have reserved. */
  used?: number;
  /** The replay that is running. */
  replay_id?: string;
  /** All problems of the request, up to 50. */
  fields?: {
    /** Dotted; empty for the body itself. */
    path: string;
    /** `invalid_type`, `invalid_format`, `invalid_value`, `too_small`, `too_big`, `unknown_field`, `repeated`, `exclusive`, `length`, `nul`, `time`, `cursor`, `currency`, `keys`, `key_length`, `bytes`, `depth`, `registered`, `in_use`, `kind`, `signature`, `gateway_currency`, `gateway_bounds`, `gateway_step`, `sandbox_only`. New rules may appear: act on `code`. */
    rule: string;
    message: string;
  }[];
  [k: string]: unknown;
}

export interface ListPayments {
  /** The application's own order reference. NUL is rejected. */
  order_id?: string | undefined;
  status?: ('pending' | 'processing' | 'paid' | 'failed' | 'cancelled' | 'expired') | undefined;
  /** Payments created at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string | undefined;
  /** Payments created before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string | undefined;
  /** By default `20`. */
  per_page?: number | undefined;
  /** From 1, the default; page × per_page is at most 10000. Use `cursor` to go deeper. */
  page?: number | undefined;
  /** The `next_cursor` of the previous page, instead of `page`. Send the same filters and `per_page` with it. */
  cursor?: string | undefined;
}

export interface ListRefundsOfPayment {
  /** By default `20`. */
  per_page?: number | undefined;
  /** The `next_cursor` of the previous page. Send the same filters with it. */
  cursor?: string | undefined;
}

export interface ListRefunds {
  /** The application's own order reference. NUL is rejected. */
  order_id?: string | undefined;
  status?: ('pending' | 'succeeded' | 'failed') | undefined;
  /** Refunds created at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string | undefined;
  /** Refunds created before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string | undefined;
  /** By default `20`. */
  per_page?: number | undefined;
  /** The `next_cursor` of the previous page. Send the same filters with it. */
  cursor?: string | undefined;
}

export interface ListDisputesOfPayment {
  /** By default `20`. */
  per_page?: number | undefined;
  /** The `next_cursor` of the previous page. Send the same filters with it. */
  cursor?: string | undefined;
}

export interface ListDisputes {
  status?: ('needs_response' | 'under_review' | 'won' | 'lost' | 'closed') | undefined;
  stage?: ('inquiry' | 'chargeback') | undefined;
  /** The disputes of one payment. */
  payment_id?: string | undefined;
  /** Disputes opened at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string | undefined;
  /** Disputes opened before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string | undefined;
  /** By default `20`. */
  per_page?: number | undefined;
  /** The `next_cursor` of the previous page. Send the same filters with it. */
  cursor?: string | undefined;
}

export interface ListLinks {
  status?: ('open' | 'paid' | 'expired' | 'disabled') | undefined;
  /** The application's own order reference. NUL is rejected. */
  order_id?: string | undefined;
  /** Links made at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string | undefined;
  /** Links made before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string | undefined;
  /** By default `20`. */
  per_page?: number | undefined;
  /** The `next_cursor` of the previous page. Send the same filters with it. */
  cursor?: string | undefined;
}

export interface ListMovements {
  /** The kind of the movement. */
  kind?:
    | (
        | 'payment'
        | 'refund'
        | 'refund_elsewhere'
        | 'refund_returned'
        | 'late_payment'
        | 'late_reversal'
        | 'fee'
        | 'chargeback'
        | 'chargeback_returned'
        | 'payout'
        | 'payout_returned'
      )
    | undefined;
  /** The movements of one payment. */
  payment_id?: string | undefined;
  /** Movements recorded at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string | undefined;
  /** Movements recorded before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string | undefined;
  /** By default `20`. */
  per_page?: number | undefined;
  /** The `next_cursor` of the previous page. Send the same filters with it. */
  cursor?: string | undefined;
}

export interface ListGateways {
  /** The list has the gateways that take this currency, each with its terms for this currency alone. */
  currency?: Currency | undefined;
  /** The list has the gateways that take this amount, in minor units, in one of the listed currencies. */
  amount?: number | undefined;
}

export interface ListEvents {
  /** The kind of the event. */
  event?:
    | (
        | 'payment.paid'
        | 'payment.failed'
        | 'payment.cancelled'
        | 'payment.expired'
        | 'refund.created'
        | 'refund.succeeded'
        | 'refund.failed'
        | 'dispute.opened'
        | 'dispute.updated'
        | 'dispute.closed'
        | 'link.paid'
        | 'link.expired'
      )
    | undefined;
  /** The status of the delivery at the moment. It changes, so a feed with this filter misses events. */
  delivery?: ('pending' | 'delivered' | 'exhausted' | 'none') | undefined;
  /** The events of one payment. */
  payment_id?: string | undefined;
  /** The application's own order reference. NUL is rejected. */
  order_id?: string | undefined;
  /** Events created at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string | undefined;
  /** Events created before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string | undefined;
  /** `desc`: the newest first, by `created_at`. `asc`: the feed, in the order in which the service recorded the events: a reader who follows its cursors misses none. `from` and `to` are about the time of the order. */
  order?: ('desc' | 'asc') | undefined;
  /** `payload`: each event has the body of its webhook, too, so that a feed needs no further request for each event. It may change from page to page. */
  include?: 'payload' | undefined;
  /** By default `20`. */
  per_page?: number | undefined;
  /** The `next_cursor` of an earlier page. Send the same filters with it. */
  cursor?: string | undefined;
}
