import type { FailureCode } from '../../../contract/failure-codes.ts';
import type { Case, ProviderFixture } from './fixture.ts';
import {
  bothReturn,
  otherPaymentCases,
  otherThanRials,
  paidAs,
  paidThen,
  refusedWith,
  refuses,
  unchanged,
  verifyReturns,
} from './cases.ts';
import { startZibal } from '../../fakes/zibal.ts';

type Zibal = Awaited<ReturnType<typeof startZibal>>;

const money = { amount: 150_000, currency: 'IRR' };
const paid = { state: 'paid', ...money } as const;

const failures: [string, FailureCode][] = [
  ['-2', 'gateway_error'],
  ['4', 'invalid_card'],
  ['5', 'insufficient_funds'],
  ['6', 'authentication_failed'],
  ['7', 'limit_exceeded'],
  ['8', 'limit_exceeded'],
  ['9', 'limit_exceeded'],
  ['10', 'card_not_supported'],
  ['11', 'gateway_error'],
  ['12', 'issuer_unavailable'],
  ['18', 'payment_reversed'],
  ['21', 'merchant_configuration'],
];

const failed = failures.map(([status, failureCode]) =>
  bothReturn<Zibal>(
    `failed: status ${status}, ${failureCode}`,
    (bank, reference) => bank.move(reference, status),
    { state: 'failed', failureCode, code: status, message: null },
  ),
);

const alreadyVerified = (bank: Zibal, reference: string) => {
  bank.pay(reference);
  bank.move(reference, '1');
};

const refused = (code: number) => ({ code: String(code), message: `result ${code}` });
const refusesOpening = (bank: Zibal, code: number) => bank.refuse('request', code);

export const zibal: ProviderFixture<Zibal> = {
  driver: 'zibal',
  credentials: {
    sandbox: { merchant: 'zibal' },
    live: {
      merchant: 'live-merchant',
      refunds: { accessToken: 'token-0123456789', accountId: 'account-1' },
    },
  },
  money,
  unknown: '4111111111',
  // It goes back after a time that is not documented.
  verifyWindowSeconds: null,
  start: () => startZibal(),
  cases: [
    bothReturn('waiting: status −1', () => {}, { state: 'waiting' }),
    verifyReturns('paid, not verified: status 2', (bank, reference) => bank.pay(reference), {
      ...paid,
      cardPanMasked: '502229******1234',
    }),
    bothReturn('verified before: status 1', alreadyVerified, {
      ...paid,
      cardPanMasked: '502229******1234',
    }),
    verifyReturns(
      'verified by another call between inquiry and verification: 201 without a number',
      paidThen((bank, reference) => bank.verifyBeforeNextVerify(reference)),
      { ...paid, cardPanMasked: '502229******1234' },
    ),
    bothReturn('cancelled by the payer: status 3', (bank, reference) => bank.move(reference, '3'), {
      state: 'cancelled',
    }),
    ...failed,
    // A refund, perhaps of a part: the payment was paid.
    ...['15', '16'].map((state) =>
      bothReturn<Zibal>(
        `throws for a refund: status ${state}`,
        (bank, reference) => bank.move(reference, state),
        'no_answer',
      ),
    ),
    bothReturn(
      'throws for an undocumented status',
      (bank, reference) => bank.move(reference, '99'),
      'no_answer',
    ),
    verifyReturns('does not verify another amount', paidAs({ amount: 2_000 }), {
      state: 'failed',
      failureCode: 'amount_mismatch',
      message: '2,000 IRR',
    }),
    bothReturn(
      'returns another amount that was verified before',
      (bank, reference) => {
        alreadyVerified(bank, reference);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      { state: 'paid', amount: 2_000, currency: 'IRR' },
    ),
    ...otherPaymentCases<Zibal>(),
    bothReturn(
      'verified before, without a number',
      (bank, reference) => {
        alreadyVerified(bank, reference);
        bank.refNumberAs(() => null);
      },
      { ...paid, trackingCode: null },
    ),
    verifyReturns(
      'refNumber as a text',
      paidThen((bank) => bank.refNumberAs(() => '000123456789012345678')),
      { ...paid, trackingCode: '000123456789012345678' },
    ),
    verifyReturns(
      'refNumber as a number',
      paidThen((bank) => bank.refNumberAs(() => 123_456_789)),
      { ...paid, trackingCode: '123456789' },
    ),
    ...(
      [
        ['5', 'insufficient_funds'],
        ['18', 'payment_reversed'],
      ] as const
    ).map(([state, failureCode]): Case<Zibal> =>
      verifyReturns(
        `status ${state} between inquiry and verification: 202, and the next inquiry shows it`,
        paidThen((bank, reference) => bank.moveBeforeNextVerify(reference, state)),
        { state: 'failed', failureCode, code: state },
      ),
    ),
    // 202, not paid, contradicts the inquiry, which still says paid.
    ...refuses('verify', 102, 103, 104, 115, 202, 203, 999)('no_answer'),
    ...refuses('inquiry', 102, 115, 203, 999)('no_answer'),
  ],
  openings: [
    ...refusedWith([102, 103, 104, 106, 111, 112, 115], refusesOpening, refused),
    ...refusedWith([105, 113], refusesOpening, (code) => ({
      ...refused(code),
      failureCode: 'amount_not_accepted',
    })),
    // Undocumented.
    ...refusedWith([-1, 0, 101, 116, 201, 999], refusesOpening, 'no_answer'),
  ],
  wire: unchanged(
    money,
    { amount: 3_000_000_000, currency: 'IRR' },
    { amount: 999_999_999_999, currency: 'IRR' },
  ),
  rejected: [[{ amount: 1_000, currency: 'IRR' }, 'gateway_bounds'], ...otherThanRials],
  hints: { paid: 'paid', unpaid: 'unpaid' },
  guards: [
    ['a live merchant in a sandbox account', 'sandbox', { merchant: 'live-merchant' }],
    ['the sandbox merchant in a live account', 'live', { merchant: 'zibal' }],
    ['no credentials', 'live', {}],
    [
      'refunds in a sandbox account',
      'sandbox',
      { merchant: 'zibal', refunds: { accessToken: 'token-0123456789', accountId: 'account-1' } },
    ],
  ],
  refunds: {
    kind: 'live',
    book: (bank, reference) => bank.of(reference),
    atDashboard: (bank, reference, amount) => bank.refundAtDashboard(reference, amount),
    states: (
      [
        ['0', { state: 'pending' }],
        ['1', { state: 'pending' }],
        ['2', { state: 'succeeded' }],
        ['3', { state: 'failed', failureCode: 'gateway_refused' }],
      ] as const
    ).map(([state, expected]) => [
      state,
      (bank, reference) => bank.moveRefunds(reference, state),
      expected,
    ]),
    refusals: (
      [
        [9, 'not_refundable'],
        [11, 'insufficient_balance'],
        [26, 'gateway_refused'],
        [29, 'insufficient_balance'],
        ...([2, 3, 4, 7, 8, 10, 18] as const).map(
          (code) => [code, 'merchant_configuration'] as const,
        ),
        ...([0, 5, 6, 44, 45, 100, 999] as const).map((code) => [code, 'no_answer'] as const),
      ] as const
    ).map(([code, failureCode]) => [String(code), (bank) => bank.refuseRefunds(code), failureCode]),
    reset: (bank) => bank.refuseRefunds(undefined),
    paths: { refund: /refund$/, list: /refund\/list$/ },
  },
  paths: { open: /request/, inquire: /inquiry/, verify: /verify/ },
};
