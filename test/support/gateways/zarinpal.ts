import { expect } from 'vitest';
import type { Case, ProviderFixture, RefusalCase } from './fixture.ts';
import {
  bothReturn,
  otherThanRials,
  paidAs,
  paidThen,
  refusedWith,
  refuses,
  unchanged,
  verifyReturns,
} from './cases.ts';
import { startZarinpal } from '../../fakes/zarinpal.ts';

type Zarinpal = Awaited<ReturnType<typeof startZarinpal>>;

const merchantId = '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42';
const money = { amount: 150_000, currency: 'IRR' };
const paid = { state: 'paid', ...money } as const;
const paidWithCard = { ...paid, cardPanMasked: '502229******1234' };

const movesTo = (state: string) => (bank: Zarinpal, reference: string) =>
  bank.move(reference, state);

/** A payment that was verified before, of which the inquiry shows no number. */
const verifiedBefore = (
  name: string,
  arrange: (bank: Zarinpal) => void,
  verify: Case<Zarinpal>['verify'],
): Case<Zarinpal> => ({
  name,
  arrange: paidThen((bank, reference) => {
    bank.move(reference, 'VERIFIED');
    arrange(bank);
  }),
  inquire: { ...paid, trackingCode: null },
  verify,
});

const testAuthority = 'S'.padEnd(36, '0');
const refused = (code: number) => ({ code: String(code), message: 'Refused.' });
const refusesOpening = (bank: Zarinpal, code: number) => bank.refuse('request', code);
const refusesReversal = (bank: Zarinpal, code: number) => bank.refuse('reverse', code);

export const zarinpal: ProviderFixture<Zarinpal> = {
  driver: 'zarinpal',
  credentials: {
    sandbox: { merchantId },
    live: { merchantId, refunds: { accessToken: 'token-0123456789', terminalId: '4711' } },
  },
  money,
  unknown: `S${'9'.repeat(35)}`,
  verifyWindowSeconds: null,
  start: (mode) => startZarinpal({ prefix: mode === 'live' ? 'A' : 'S' }),
  cases: [
    bothReturn('waiting: IN_BANK', () => {}, { state: 'waiting' }),
    verifyReturns('paid, not verified: PAID', (bank, reference) => bank.pay(reference), {
      ...paidWithCard,
      trackingCode: expect.stringMatching(/^\d{10}$/) as string,
    }),
    verifiedBefore('verified before: 101 with ref_id', () => {}, paidWithCard),
    verifiedBefore('verified before: 101 without ref_id', (bank) => bank.forgetRefIdOnce(), {
      ...paidWithCard,
      trackingCode: null,
    }),
    {
      name: 'failed or cancelled, which ZarinPal does not tell apart: FAILED',
      arrange: movesTo('FAILED'),
      inquire: { state: 'failed', failureCode: 'payment_not_completed', code: 'FAILED' },
      verify: { state: 'failed', failureCode: 'payment_not_completed' },
    },
    bothReturn('reversed before the verification: REVERSED', movesTo('REVERSED'), {
      state: 'failed',
      failureCode: 'payment_reversed',
    }),
    bothReturn('throws for an undocumented status', movesTo('ON_HOLD'), 'no_answer'),
    verifyReturns('fails for another amount', paidAs({ amount: 1_000 }), {
      state: 'failed',
      failureCode: 'amount_mismatch',
      code: '-50',
    }),
    // −51, not paid, contradicts the inquiry, which still says paid.
    ...refuses('verify', -51)('no_answer'),
    verifiedBefore(
      'throws when the inquiry says verified and the verification says not paid: −51',
      (bank) => bank.refuse('verify', -51),
      'no_answer',
    ),
    ...(
      [
        ['FAILED', 'payment_not_completed'],
        ['REVERSED', 'payment_reversed'],
      ] as const
    ).map(([state, failureCode]): Case<Zarinpal> =>
      verifyReturns(
        `${state} between inquiry and verification: −51, and the next inquiry shows it`,
        paidThen((bank, reference) => bank.moveBeforeNextVerify(reference, state)),
        { state: 'failed', failureCode, code: state },
      ),
    ),
    ...[
      { data: { code: 102, ref_id: 201 }, errors: [] },
      { data: { code: 100, ref_id: 201 }, errors: { code: -50 } },
    ].map((body) =>
      verifyReturns<Zarinpal>(
        `throws when the verification is answered with ${JSON.stringify(body)}`,
        paidThen((bank) => bank.replyOnce('verify', body)),
        'no_answer',
      ),
    ),
    verifyReturns(
      'paid without a card number',
      paidThen((bank) => bank.replyOnce('verify', { data: { code: 100, ref_id: 201 } })),
      { ...paid, trackingCode: '201', cardPanMasked: null },
    ),
    // Refusals about our account, too many attempts, a fault of theirs: none is an outcome.
    ...refuses('verify', -10, -11, -12, -15, -52, -53, -54, -99)('no_answer'),
    ...refuses('inquiry', -10, -12, -52, -54)('no_answer'),
    verifyReturns('masks a whole card number', paidAs({ card: '5022291234561234' }), {
      ...paid,
      cardPanMasked: '502229******1234',
    }),
    verifyReturns(
      'drops a card number that shows other digits',
      paidAs({ card: '50222****12345' }),
      { ...paid, cardPanMasked: null },
    ),
  ],
  openings: [
    ...refusedWith([-10, -11, -13, -14, -15, -19, -30], refusesOpening, refused),
    ...refusedWith([-41], refusesOpening, {
      ...refused(-41),
      failureCode: 'amount_not_accepted',
    }),
    // A validation that names no field. Who sent no data of a payer ignores it.
    ...refusedWith([-9], refusesOpening, { ...refused(-9), isAboutPayer: true }),
    // Temporary, or undocumented.
    ...refusedWith([1, -8, -12, -42, -50, -52, -99, -999], refusesOpening, 'no_answer'),
    ...[[], {}, '', null].map((data): RefusalCase<Zarinpal> => [
      `the empty data ${JSON.stringify(data)}`,
      (bank) => bank.replyOnce('request', { data, errors: { code: -11 } }),
      { code: '-11', message: null },
    ]),
    ...[
      { data: { code: 101, authority: testAuthority }, errors: [] },
      { data: { code: 100, authority: 'S1' }, errors: [] },
      { data: { code: 100, authority: testAuthority }, errors: { code: -11 } },
    ].map((body): RefusalCase<Zarinpal> => [
      `the undocumented ${JSON.stringify(body)}`,
      (bank) => bank.replyOnce('request', body),
      'no_answer',
    ]),
  ],
  reversals: [
    ...refusedWith([-10, -60, -62, -63], refusesReversal, refused),
    // It may have been done.
    ...refusedWith([-12, -52, -99], refusesReversal, 'no_answer'),
    [
      'an undocumented success',
      (bank) => bank.replyOnce('reverse', { data: { code: 101 }, errors: [] }),
      'no_answer',
    ],
  ],
  wire: unchanged(money, { amount: 1_000_000_000, currency: 'IRR' }),
  rejected: [
    [{ amount: 1_000_000_001, currency: 'IRR' }, 'gateway_bounds'],
    [{ amount: 3_000_000_000, currency: 'IRR' }, 'gateway_bounds'],
    ...otherThanRials,
  ],
  hints: { paid: 'paid', unpaid: 'unpaid' },
  guards: [
    ['a merchant id that is not a UUID', 'sandbox', { merchantId: 'not-a-merchant-id' }],
    ['an unknown credential', 'live', { merchantId, secretKey: 'sk_live_secret' }],
    ['no credentials', 'live', {}],
    [
      'refunds in a sandbox account',
      'sandbox',
      { merchantId, refunds: { accessToken: 'token-0123456789', terminalId: '4711' } },
    ],
  ],
  refunds: {
    kind: 'live',
    book: (bank, reference) => bank.of(reference),
    atDashboard: (bank, reference, amount) => bank.refundAtDashboard(reference, amount),
    states: (
      [
        ['PENDING', { state: 'pending' }],
        ['IN_PROGRESS', { state: 'pending' }],
        ['PAID', { state: 'succeeded', bankReference: 'paya-77' }],
        ['REJECTED', { state: 'failed', failureCode: 'gateway_refused', code: 'REJECTED' }],
        ['BANK_REJECTED', { state: 'failed', failureCode: 'returned_by_bank' }],
        ['REVERSED', { state: 'failed', failureCode: 'returned_by_bank' }],
      ] as const
    ).map(([state, expected]) => [
      state,
      (bank, reference) => bank.moveRefunds(reference, state),
      expected,
    ]),
    refusals: (
      [
        ['validation', 'gateway_refused'],
        ['authentication', 'merchant_configuration'],
        ['authorization', 'merchant_configuration'],
        ['internal', 'no_answer'],
        ['something_new', 'no_answer'],
        ['', 'no_answer'],
      ] as const
    ).map(([category, failureCode]) => [
      category,
      (bank) => bank.refuseRefunds({ message: 'Refused.', category }),
      failureCode,
    ]),
    reset: (bank) => bank.refuseRefunds(undefined),
    // A refund asks for the session first, at the same path.
    paths: { refund: /graphql/, list: /graphql/, body: /AddRefund/ },
  },
  paths: { open: /request/, inquire: /inquiry/, verify: /verify/ },
};
