import type { FailureCode } from '../../../contract/failure-codes.ts';
import type { Scene, Subject } from './subject.ts';
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

const failed = failures.map(([code, failureCode]): Scene<Stripe> => {
  const answer = { state: 'failed', failureCode, code, message: 'No.' } as const;
  return {
    what: `failed later: ${code}, ${failureCode}`,
    play(bank, reference) {
      bank.failWith({ code: 'card_declined', decline_code: code, message: 'No.' });
      bank.move(reference, 'complete unpaid requires_payment_method');
    },
    inquire: answer,
    verify: answer,
  };
});

const always = (
  what: string,
  state: string,
  answer: Scene<Stripe>['verify'],
  besides: (bank: Stripe, reference: string) => void = () => {},
): Scene<Stripe> => ({
  what,
  play(bank, reference) {
    bank.failWith(null);
    bank.move(reference, state);
    besides(bank, reference);
  },
  inquire: answer,
  verify: answer,
});

const refuses = (status: number, code: string): Scene<Stripe> => ({
  what: `asking is refused: ${status}, ${code}`,
  play(bank, reference) {
    const reply = { status, type: 'invalid_request_error', code };
    bank.refuse(reference, reply, reply);
  },
  inquire: 'no_answer',
  verify: 'no_answer',
});

const wires = (ours: [number, string], wire: number): Subject<Stripe>['wire'][number] => [
  { amount: ours[0], currency: ours[1] },
  { amount: wire, currency: ours[1].toLowerCase() },
];

export const stripe: Subject<Stripe> = {
  driver: 'stripe',
  credentials: {
    sandbox: { secretKey: 'sk_test_0123456789abcdef', webhookSecrets: ['whsec_0123456789'] },
    live: { secretKey: 'sk_live_0123456789abcdef' },
  },
  money,
  unknown: 'cs_test_nobodyknows',
  verifyWindowSeconds: null,
  start: (mode) => startStripe({ mode: mode === 'live' ? 'live' : 'test' }),
  scenes: [
    always('waiting: open', 'open unpaid', { state: 'waiting' }),
    always('waiting: open, and a card was declined', 'open unpaid requires_payment_method', {
      state: 'waiting',
    }),
    {
      what: 'paid: complete and paid',
      play: (bank, reference) => bank.pay(reference),
      inquire: paid,
      verify: paid,
    },
    always('settling: complete and unpaid', 'complete unpaid processing', { state: 'processing' }),
    always('settling, then paid', 'complete unpaid processing', paid, (bank, reference) =>
      bank.move(reference, 'complete paid succeeded'),
    ),
    always('expired', 'expired unpaid', { state: 'expired' }),
    always('failed later without a code', 'complete unpaid requires_payment_method', {
      state: 'failed',
      failureCode: 'payment_not_completed',
      code: null,
    }),
    always('failed later: given up', 'complete unpaid canceled', {
      state: 'failed',
      failureCode: 'payment_not_completed',
    }),
    always(
      'failed later with one code alone, and no message',
      'complete unpaid requires_payment_method',
      {
        ...{ state: 'failed', failureCode: 'authentication_failed', message: null },
        code: 'payment_intent_authentication_failure',
      },
      (bank) => bank.failWith({ code: 'payment_intent_authentication_failure' }),
    ),
    always(
      'refunded',
      'complete paid succeeded',
      { state: 'failed', failureCode: 'payment_reversed' },
      (bank, reference) => {
        const entry = bank.book.get(reference);
        if (entry) Object.assign(entry, { charged: 1, reversed: 1 });
      },
    ),
    ...failed,
    always('a status that nobody told us of', 'half paid succeeded', 'no_answer'),
    always('paid, but still open', 'open paid succeeded', 'no_answer'),
    always('paid, but by nothing', 'complete paid', 'no_answer'),
    always('nothing to be paid', 'complete no_payment_required', 'no_answer'),
    {
      what: 'FS-08: another amount than ours is told as it is',
      play(bank, reference) {
        bank.pay(reference);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 100;
      },
      inquire: { state: 'paid', amount: 100, currency: 'EUR' },
      verify: { state: 'paid', amount: 100, currency: 'EUR' },
    },
    {
      what: 'FS-08: another currency than ours is told as it is',
      play(bank, reference) {
        bank.pay(reference);
        const entry = bank.book.get(reference);
        if (entry) entry.currency = 'jpy';
      },
      inquire: { state: 'paid', amount: 1_250, currency: 'JPY' },
      verify: { state: 'paid', amount: 1_250, currency: 'JPY' },
    },
    refuses(401, 'api_key_invalid'),
    refuses(403, 'account_closed'),
    refuses(404, 'resource_missing'),
    refuses(409, 'lock_timeout'),
    refuses(400, 'something_new'),
  ],
  wire: [
    wires([1_250, 'USD'], 1_250),
    wires([1_250, 'EUR'], 1_250),
    wires([500, 'JPY'], 500),
    wires([15_000, 'KRW'], 15_000),
    wires([1_250, 'KWD'], 1_250),
    wires([1_250, 'BHD'], 1_250),
    wires([1_250, 'TND'], 1_250),
    wires([500, 'ISK'], 50_000),
    wires([1_200, 'MGA'], 12),
    wires([99_999_999, 'USD'], 99_999_999),
    wires([999_999_999_999, 'IDR'], 999_999_999_999),
  ],
  refused: [
    [{ amount: 49, currency: 'USD' }, 'gateway_bounds'],
    [{ amount: 3_000_000_000, currency: 'USD' }, 'gateway_bounds'],
    [{ amount: 100_000_000, currency: 'HUF' }, 'gateway_bounds'],
    [{ amount: 1_255, currency: 'KWD' }, 'gateway_step'],
    [{ amount: 1_250, currency: 'MGA' }, 'gateway_step'],
    [{ amount: 1_000_000, currency: 'ISK' }, 'gateway_bounds'],
    [{ amount: 150_000, currency: 'IRR' }, 'gateway_currency'],
    [{ amount: 150_000, currency: 'UGX' }, 'gateway_currency'],
  ],
  hints: { paid: 'paid', unpaid: 'cancelled' },
  guards: [
    ['a live key in a sandbox account', 'sandbox', { secretKey: 'sk_live_0123456789abcdef' }],
    ['a test key in a live account', 'live', { secretKey: 'sk_test_0123456789abcdef' }],
    ['a live restricted key in a sandbox account', 'sandbox', { secretKey: 'rk_live_0123456789' }],
    ['a publishable key', 'sandbox', { secretKey: 'pk_test_0123456789abcdef' }],
  ],
  paths: { open: /sessions$/, inquire: /sessions\/cs_/, verify: /sessions\/cs_/ },
};
