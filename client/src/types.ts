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
 * - `suspected_fraud`: The payment was refused for security reasons.
 * - `issuer_unavailable`: The card issuer could not be reached.
 * - `gateway_error`: The payment gateway could not process the payment.
 * - `merchant_configuration`: The gateway account is not able to take this payment.
 * - `amount_mismatch`: The gateway confirmed another amount or currency than the payment has.
 * - `payment_not_completed`: The payment was not completed at the gateway.
 * - `payment_reversed`: The gateway gave the money back before the payment was confirmed.
 * - `unknown`: The gateway refused the payment without a known reason.
 */
export type FailureCode = string;
/** The codes of errors. New codes may appear. */
export type ErrorCode =
  | 'APPLICATION_DISABLED'
  | 'EVENT_NOT_FOUND'
  | 'GATEWAY_NOT_ALLOWED'
  | 'GATEWAY_UNAVAILABLE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'INSUFFICIENT_SCOPE'
  | 'INTERNAL'
  | 'INVALID_IDEMPOTENCY_KEY'
  | 'INVALID_TOKEN'
  | 'MALFORMED_JSON'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_FOUND'
  | 'PAYLOAD_TOO_LARGE'
  | 'PAYMENT_NOT_FOUND'
  | 'RATE_LIMITED'
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

export interface CreatePayment {
  /** The application's own order reference. Several payments may have the same one. */
  order_id: string;
  /** In minor units of the currency, e.g. cents; IRR in whole rials. Written as a plain integer, without fraction or exponent. The gateway may accept less (rule `gateway_bounds`) or only whole multiples (rule `gateway_step`). */
  amount: number;
  /** ISO 4217 code. The gateway may accept fewer currencies (rule `gateway_currency`). */
  currency: Currency;
  /** The payer's browser returns here. Must equal one of the registered callback URLs; the first is the default. The service adds `payment_id`, `order_id` and `status` to its query. */
  callback_url?: string;
  /** Slug of an enabled gateway; by default the application's. A test token may use only sandbox gateways. */
  gateway?: string;
  /** Shown to the payer at the gateway. */
  description?: string;
  /** Stored and returned as it was sent. At most 8192 bytes as sent, nested at most 5 levels deep. */
  metadata?: {
    [k: string]: unknown;
  };

  /** Seconds that the payer has to pay. Written as a plain integer, without fraction or exponent. The gateway may accept less (rule `gateway_bounds`). */
  expires_in?: number;
  sandbox?: SandboxPlan;
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
   * - `already_verified`: the first confirmation of the gateway is lost, and a later one says that it was verified before: `processing`, then `paid` within two minutes.
   * - `silent`: the payer pays, and the gateway does not answer for `after_seconds`: `processing`, then `paid` within two minutes.
   */
  outcome:
    | 'paid'
    | 'failed'
    | 'cancelled'
    | 'abandoned'
    | 'paid_late'
    | 'other_amount'
    | 'already_verified'
    | 'silent';
  /** Only with `failed`; by default `card_declined`. */
  failure_code?:
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
    | 'amount_mismatch'
    | 'payment_not_completed'
    | 'payment_reversed'
    | 'unknown';
  /** The payer acts this long after the create. Less than `expires_in`, except for `paid_late`. For `silent` it is how long the gateway does not answer, and must be given. */
  after_seconds?: number;
  /** False: the payer closes the browser instead of coming back. The service finds the payment within three minutes. The payer of `paid_late` always comes back. */
  returns?: boolean;
}

export interface CreateReplay {
  /** Events created at this time or later. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from: string;
  /** Events created before this time; a date includes its whole day in UTC. At most 31 days after `from`. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to: string;
  /** The events whose delivery has this status. */
  delivery?: 'exhausted' | 'delivered';
  /** True only counts the events, and replays nothing. */
  dry_run?: boolean;
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
  /** One fixed English sentence for each failure code. */
  failure_reason: string | null;
  /** True if a test token created the payment. */
  test: boolean;
  /** As it was sent: the same keys in the same order, the same number literals. */
  metadata: {
    [k: string]: unknown;
  };
}

export interface EventDetail {
  /** The same in every attempt: ignore an event that you have processed. */
  event_id: string;
  event:
    'payment.paid' | 'payment.failed' | 'payment.cancelled' | 'payment.expired' | (string & {});
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
    'payment.paid' | 'payment.failed' | 'payment.cancelled' | 'payment.expired' | (string & {});
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
}

export interface EventPagination {
  per_page: number;
  has_more: boolean;
  /** Send it as `cursor` to get the next page. With `order=asc` it is there on the last page too: keep it, and continue from it later. Null on the last page of `desc`, and for an empty feed. */
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
  /** One fixed English sentence for each failure code. */
  failure_reason: string | null;
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
  /** The kind of the sample. */
  event?: 'payment.paid' | 'payment.failed' | 'payment.cancelled' | 'payment.expired';
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
  /** Seconds, as in `Retry-After`. */
  retry_after?: number;
  /** The replay that is running. */
  replay_id?: string;
  /** All problems of the request, up to 50. */
  fields?: {
    /** Dotted; empty for the body itself. */
    path: string;
    /** `invalid_type`, `invalid_format`, `invalid_value`, `too_small`, `too_big`, `unknown_field`, `repeated`, `exclusive`, `length`, `nul`, `time`, `cursor`, `currency`, `keys`, `key_length`, `bytes`, `depth`, `registered`, `in_use`, `signature`, `gateway_currency`, `gateway_bounds`, `gateway_step`, `sandbox_only`. New rules may appear: act on `code`. */
    rule: string;
    message: string;
  }[];
  [k: string]: unknown;
}

export interface ListPayments {
  /** The application's own order reference. NUL is rejected. */
  order_id?: string;
  status?: 'pending' | 'processing' | 'paid' | 'failed' | 'cancelled' | 'expired';
  /** Payments created at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string;
  /** Payments created before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string;
  per_page?: number;
  /** From 1, the default; page × per_page is at most 10000. Use `cursor` to go deeper. */
  page?: number;
  /** The `next_cursor` of the previous page, instead of `page`. Send the same filters and `per_page` with it. */
  cursor?: string;
}

export interface ListEvents {
  /** The kind of the event. */
  event?: 'payment.paid' | 'payment.failed' | 'payment.cancelled' | 'payment.expired';
  /** The status of the delivery at the moment. It changes, so a feed with this filter misses events. */
  delivery?: 'pending' | 'delivered' | 'exhausted' | 'none';
  /** The events of one payment. */
  payment_id?: string;
  /** The application's own order reference. NUL is rejected. */
  order_id?: string;
  /** Events created at this time or later; a date means its first moment in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  from?: string;
  /** Events created before this time; a date includes its whole day in UTC. A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an offset, at most 9 digits of fraction and no leap second. */
  to?: string;
  /** `desc`: the newest first, by `created_at`. `asc`: the feed, in the order in which the service recorded the events: a reader who follows its cursors misses none. `from` and `to` are about the time of the order. */
  order?: 'desc' | 'asc';
  per_page?: number;
  /** The `next_cursor` of an earlier page. Send the same filters with it. */
  cursor?: string;
}
