import type { FailureCode } from '../../../contract/failure-codes.ts';
import type { KnownRefund } from '../../../gateways/gateway.ts';
import type { Case, ProviderFixture, RefundCase, RefusalCase } from './fixture.ts';
import { bothReturn, paidAs } from './cases.ts';
import { startStripe } from '../../fakes/stripe.ts';

type Stripe = Awaited<ReturnType<typeof startStripe>>;

const money = { amount: 1_250, currency: 'EUR' };
const paid = { state: 'paid', ...money, cardPanMasked: null } as const;

const failures: [string, FailureCode][] = [
  ['insufficient_funds', 'insufficient_funds'],
  ['generic_decline', 'card_declined'],
  ['do_not_honor', 'card_declined'],
  ['call_issuer', 'card_declined'],
  ['incorrect_number', 'invalid_card'],
  ['expired_card', 'expired_card'],
  ['invalid_expiry_year', 'expired_card'],
  ['incorrect_cvc', 'authentication_failed'],
  ['authentication_required', 'authentication_failed'],
  ['card_velocity_exceeded', 'limit_exceeded'],
  ['card_not_supported', 'card_not_supported'],
  ['currency_not_supported', 'card_not_supported'],
  ['fraudulent', 'suspected_fraud'],
  ['lost_card', 'suspected_fraud'],
  ['issuer_not_available', 'issuer_unavailable'],
  ['processing_error', 'gateway_error'],
  ['testmode_decline', 'merchant_configuration'],
  ['something_new', 'unknown'],
];

const sameForBoth = (
  name: string,
  state: string,
  expected: Case<Stripe>['verify'],
  more: (bank: Stripe, reference: string) => void = () => {},
): Case<Stripe> =>
  bothReturn(
    name,
    (bank, reference) => {
      bank.failWith(null);
      bank.move(reference, state);
      more(bank, reference);
    },
    expected,
  );

const failed = failures.map(([code, failureCode]) =>
  sameForBoth(
    `failed after the return: ${code} is ${failureCode}`,
    'complete unpaid requires_payment_method',
    { state: 'failed', failureCode, code, message: 'No.' },
    (bank) => bank.failWith({ code: 'card_declined', decline_code: code, message: 'No.' }),
  ),
);

/** A payment of which so much went back at the dashboard. */
const refunded = (
  name: string,
  expected: Case<Stripe>['verify'],
  { amount = money.amount, status }: { amount?: number; status?: string } = {},
): Case<Stripe> =>
  sameForBoth(name, 'complete paid succeeded', expected, (bank, reference) => {
    Object.assign(bank.book.get(reference) ?? {}, { charged: 1 });
    bank.refundAtDashboard(reference, amount);
    if (status !== undefined) bank.moveRefunds(reference, status);
  });

const refuses = (status: number, code: string): Case<Stripe> =>
  bothReturn(
    `throws when the inquiry is refused with ${status}, ${code}`,
    (bank, reference) => {
      const reply = { status, type: 'invalid_request_error', code };
      bank.refuse(reference, reply, reply);
    },
    'no_answer',
  );

const toPair = (ours: [number, string], wire: number): ProviderFixture<Stripe>['wire'][number] => [
  { amount: ours[0], currency: ours[1] },
  { amount: wire, currency: ours[1].toLowerCase() },
];

const refundIs = (
  status: string,
  reason: string | null,
  expected: Partial<KnownRefund>,
): RefundCase<Stripe, Partial<KnownRefund>> => [
  `${status}, ${reason}`,
  (bank, reference) => bank.moveRefunds(reference, status, reason),
  expected,
];

const invalid = 'invalid_request_error';
const certain = (code: string) => ({ code, message: `Stripe says ${code}` });

/** The next call to a path with this end is refused. By default that is certain. */
const refusal = (
  path: string,
  [status, type, code]: [number, string, string?],
  expected: RefusalCase<Stripe>[2] = certain(code ?? type),
): RefusalCase<Stripe> => [
  `${status} ${type} ${code}`,
  (bank) => bank.refuse(path, { status, type, ...(code !== undefined && { code }) }),
  expected,
];

export const stripe: ProviderFixture<Stripe> = {
  driver: 'stripe',
  credentials: {
    sandbox: { secretKey: 'sk_test_0123456789abcdef', webhookSecrets: ['whsec_0123456789'] },
    live: { secretKey: 'sk_live_0123456789abcdef' },
  },
  money,
  unknown: 'cs_test_unknown',
  verifyWindowSeconds: null,
  start: (mode) => startStripe({ mode: mode === 'live' ? 'live' : 'test' }),
  cases: [
    sameForBoth('waiting: open', 'open unpaid', { state: 'waiting' }),
    sameForBoth('waiting: open, and a card was declined', 'open unpaid requires_payment_method', {
      state: 'waiting',
    }),
    bothReturn('paid: complete and paid', (bank, reference) => bank.pay(reference), paid),
    sameForBoth('processing: complete and unpaid', 'complete unpaid processing', {
      state: 'processing',
    }),
    sameForBoth('processing, then paid', 'complete unpaid processing', paid, (bank, reference) =>
      bank.move(reference, 'complete paid succeeded'),
    ),
    sameForBoth('expired', 'expired unpaid', { state: 'expired' }),
    sameForBoth(
      'failed after the return, without a code',
      'complete unpaid requires_payment_method',
      {
        state: 'failed',
        failureCode: 'payment_not_completed',
        code: null,
      },
    ),
    sameForBoth('failed after the return: canceled', 'complete unpaid canceled', {
      state: 'failed',
      failureCode: 'payment_not_completed',
    }),
    sameForBoth(
      'failed after the return, with `code` only and no message',
      'complete unpaid requires_payment_method',
      {
        state: 'failed',
        failureCode: 'authentication_failed',
        message: null,
        code: 'payment_intent_authentication_failure',
      },
      (bank) => bank.failWith({ code: 'payment_intent_authentication_failure' }),
    ),
    refunded('refunded', { state: 'failed', failureCode: 'payment_reversed' }),
    refunded('a whole refund is pending', { state: 'processing' }, { status: 'pending' }),
    refunded('a whole refund has failed', paid, { status: 'failed' }),
    refunded('partly refunded', paid, { amount: money.amount - 1 }),
    ...failed,
    sameForBoth('throws for an undocumented status', 'half paid succeeded', 'no_answer'),
    sameForBoth('throws when it is paid and still open', 'open paid succeeded', 'no_answer'),
    sameForBoth('throws when it is paid without a payment intent', 'complete paid', 'no_answer'),
    sameForBoth('throws when no payment is required', 'complete no_payment_required', 'no_answer'),
    bothReturn('returns another amount', paidAs({ amount: 100 }), {
      state: 'paid',
      amount: 100,
      currency: 'EUR',
    }),
    bothReturn('returns another currency', paidAs({ currency: 'jpy' }), {
      state: 'paid',
      amount: 1_250,
      currency: 'JPY',
    }),
    refuses(401, 'api_key_invalid'),
    refuses(403, 'account_closed'),
    refuses(404, 'resource_missing'),
    refuses(409, 'lock_timeout'),
    refuses(400, 'something_new'),
  ],
  openings: [
    ...['amount_too_small', 'amount_too_large'].map((code) =>
      refusal('sessions', [400, invalid, code], {
        ...certain(code),
        failureCode: 'amount_not_accepted',
      }),
    ),
    refusal('sessions', [400, invalid, 'parameter_invalid_integer']),
    refusal('sessions', [401, invalid, 'api_key_expired']),
    refusal('sessions', [403, invalid, 'account_closed']),
    refusal('sessions', [401, invalid], { code: invalid, message: 'Stripe says undefined' }),
    // A request with the same key is running, or the key was used differently.
    refusal('sessions', [409, invalid, 'concurrent'], 'no_answer'),
    refusal('sessions', [400, 'idempotency_error', 'concurrent'], 'no_answer'),
    // No certain refusal.
    refusal('sessions', [400, 'api_error', 'concurrent'], 'no_answer'),
    refusal('sessions', [400, 'something_new', 'concurrent'], 'no_answer'),
    refusal('sessions', [402, 'card_error', 'concurrent'], 'no_answer'),
    refusal('sessions', [404, invalid, 'concurrent'], 'no_answer'),
    refusal('sessions', [422, invalid, 'concurrent'], 'no_answer'),
  ],
  reversals: [
    refusal('refunds', [409, invalid, 'charge_already_refunded'], 'no_answer'),
    refusal('refunds', [400, invalid, 'something_new'], 'no_answer'),
    refusal('refunds', [400, 'api_error', 'charge_already_refunded'], 'no_answer'),
  ],
  wire: [
    toPair([1_250, 'USD'], 1_250),
    toPair([1_250, 'EUR'], 1_250),
    toPair([500, 'JPY'], 500),
    toPair([15_000, 'KRW'], 15_000),
    toPair([1_250, 'KWD'], 1_250),
    toPair([1_250, 'BHD'], 1_250),
    toPair([1_250, 'TND'], 1_250),
    toPair([500, 'ISK'], 50_000),
    toPair([500, 'UGX'], 50_000),
    toPair([1_200, 'MGA'], 12),
    toPair([99_999_999, 'USD'], 99_999_999),
    toPair([999_999_999_999, 'IDR'], 999_999_999_999),
  ],
  rejected: [
    [{ amount: 49, currency: 'USD' }, 'gateway_bounds'],
    [{ amount: 3_000_000_000, currency: 'USD' }, 'gateway_bounds'],
    [{ amount: 100_000_000, currency: 'HUF' }, 'gateway_bounds'],
    [{ amount: 1_255, currency: 'KWD' }, 'gateway_step'],
    [{ amount: 1_250, currency: 'MGA' }, 'gateway_step'],
    [{ amount: 1_000_000, currency: 'ISK' }, 'gateway_bounds'],
    [{ amount: 150_000, currency: 'IRR' }, 'gateway_currency'],
    [{ amount: 150_000, currency: 'BTN' }, 'gateway_currency'],
  ],
  hints: { paid: 'paid', unpaid: 'cancelled' },
  guards: [
    ['a live key in a sandbox account', 'sandbox', { secretKey: 'sk_live_0123456789abcdef' }],
    ['a test key in a live account', 'live', { secretKey: 'sk_test_0123456789abcdef' }],
    ['a live restricted key in a sandbox account', 'sandbox', { secretKey: 'rk_live_0123456789' }],
    ['a publishable key', 'sandbox', { secretKey: 'pk_test_0123456789abcdef' }],
  ],
  refunds: {
    kind: 'sandbox',
    book: (bank, reference) => bank.of(reference),
    atDashboard: (bank, reference, amount) => bank.refundAtDashboard(reference, amount),
    states: [
      refundIs('succeeded', null, { state: 'succeeded', bankReference: '7498704301' }),
      refundIs('pending', 'processing', { state: 'pending' }),
      refundIs('pending', 'charge_pending', { state: 'pending' }),
      refundIs('pending', 'insufficient_funds', { state: 'waiting_for_balance' }),
      refundIs('requires_action', null, { state: 'pending' }),
      refundIs('canceled', null, { state: 'failed', failureCode: 'cancelled' }),
      ...(
        [
          ['lost_or_stolen_card', 'returned_by_bank'],
          ['expired_or_canceled_card', 'returned_by_bank'],
          ['charge_for_pending_refund_disputed', 'disputed'],
          ['insufficient_funds', 'insufficient_balance'],
          ['declined', 'gateway_refused'],
          ['merchant_request', 'cancelled'],
          ['unknown', 'unknown'],
          ['something_new', 'unknown'],
        ] as const
      ).map(([reason, failureCode]) =>
        refundIs('failed', reason, { state: 'failed', failureCode, code: reason }),
      ),
    ],
    refusals: (
      [
        [400, 'charge_already_refunded', 'already_refunded'],
        [400, 'charge_disputed', 'disputed'],
        [400, 'balance_insufficient', 'insufficient_balance'],
        [400, 'amount_too_large', 'not_refundable'],
        [400, 'refund_disputed_payment', 'disputed'],
        [400, 'charge_not_refundable', 'not_refundable'],
        // In no list, and of a status that says nothing about the refund.
        [400, 'something_new', 'no_answer'],
        [402, 'balance_insufficient', 'no_answer'],
        [404, 'charge_already_refunded', 'no_answer'],
        [409, 'charge_already_refunded', 'no_answer'],
        [401, 'api_key_expired', 'merchant_configuration'],
        [403, 'account_closed', 'merchant_configuration'],
      ] as const
    ).map(([status, code, failureCode]) => [
      `${status}, ${code}`,
      (bank) => bank.refuse('/refunds', { status, type: 'invalid_request_error', code }),
      failureCode,
    ]),
    paths: { refund: /v1\/refunds$/, list: /v1\/refunds\?/ },
  },
  paths: {
    open: /sessions$/,
    inquire: /sessions\/cs_/,
    verify: /sessions\/cs_/,
    reverse: /refunds$/,
  },
};
