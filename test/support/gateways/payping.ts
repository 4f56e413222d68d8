import { expect } from 'vitest';
import type { Case, ProviderFixture } from './fixture.ts';
import { otherPaymentCases } from './cases.ts';
import { startPayping } from '../../fakes/payping.ts';

type Payping = Awaited<ReturnType<typeof startPayping>>;

const money = { amount: 150_000, currency: 'IRR' };
const paid = { state: 'paid', ...money } as const;
const paidWithCard = {
  ...paid,
  trackingCode: expect.stringMatching(/^\d{10}$/) as string,
  cardPanMasked: '502229******1234',
} as const;

const movesTo = (state: string) => (bank: Payping, reference: string) =>
  bank.move(reference, state);

const verified = (bank: Payping, reference: string) => {
  bank.pay(reference);
  bank.move(reference, '1');
};

const refuses =
  (name: string, status: number, ...codes: number[]) =>
  (verify: Case<Payping>['verify']): Case<Payping>[] =>
    codes.map((code) => ({
      name: `${name} is refused with ${status}, code ${code}`,
      arrange(bank, reference) {
        bank.pay(reference);
        const reply = { status, code };
        // One refusal for `inquire` and one for `verify`.
        bank.refuse(name, ...(name === 'report' ? [reply, reply] : [reply]));
      },
      inquire: name === 'report' ? 'no_answer' : { state: 'processing' },
      verify,
    }));

export const payping: ProviderFixture<Payping> = {
  driver: 'payping',
  credentials: {
    sandbox: { testToken: 'test-token-0123456789' },
    live: { liveToken: 'live-token-0123456789' },
  },
  money,
  unknown: 'pc999999',
  verifyWindowSeconds: 10 * 60,
  start: () => startPayping(),
  cases: [
    {
      name: 'waiting: status 0',
      arrange() {},
      inquire: { state: 'waiting' },
      verify: { state: 'waiting' },
    },
    {
      name: 'waiting at the bank: status 2',
      arrange: movesTo('2'),
      inquire: { state: 'waiting' },
      verify: { state: 'waiting' },
    },
    {
      name: 'paid, not verified: status 5',
      arrange: (bank, reference) => bank.pay(reference),
      inquire: { state: 'processing' },
      verify: paidWithCard,
    },
    ...[202, 502].map((status): Case<Payping> => ({
      name: `processing: the verification responds ${status}`,
      arrange(bank, reference) {
        bank.pay(reference);
        bank.verifyStatuses.push(status);
      },
      inquire: { state: 'processing' },
      verify: { state: 'processing' },
    })),
    ...[202, 502, 503].map((status): Case<Payping> => ({
      name: `verified before, and another verification responds ${status}: the report counts`,
      arrange(bank, reference) {
        verified(bank, reference);
        bank.verifyStatuses.push(status);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...paidWithCard, cardPanMasked: null },
    })),
    {
      name: 'verified before: 409 with the payment',
      arrange(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: paidWithCard,
    },
    {
      name: 'verified before: 409 without the payment',
      arrange(bank, reference) {
        verified(bank, reference);
        bank.setConflict(false);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...paidWithCard, cardPanMasked: null },
    },
    ...[121, 122, 123, 127, 133, 137, 155, 999].map((code): Case<Payping> => ({
      name: `verified before, and another verification is refused with ${code}: the report counts`,
      arrange(bank, reference) {
        verified(bank, reference);
        bank.refuse('verify', { status: 400, code });
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...paidWithCard, cardPanMasked: null },
    })),
    ...(
      [
        ['1', paid],
        ['3', { state: 'cancelled' }],
        ['4', { state: 'failed', failureCode: 'gateway_error' }],
      ] as const
    ).flatMap(([state, verify]) =>
      [121, 133].map((code): Case<Payping> => ({
        name: `status ${state} between report and verification, which is refused with ${code}`,
        arrange(bank, reference) {
          bank.pay(reference);
          bank.moveBeforeNextVerify(reference, state);
          bank.refuse('verify', { status: 400, code });
        },
        inquire: { state: 'processing' },
        verify,
      })),
    ),
    {
      name: 'verified, and the report has no number',
      arrange: movesTo('1'),
      inquire: { ...paid, trackingCode: null },
      verify: { ...paid, trackingCode: null },
    },
    {
      name: 'refunded',
      arrange(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
        bank.refund(reference, 2);
      },
      inquire: { state: 'failed', failureCode: 'payment_reversed' },
      verify: { state: 'failed', failureCode: 'payment_reversed' },
    },
    ...[1, 3].map((status): Case<Payping> => ({
      name: `a refund that is not complete: refund status ${status}`,
      arrange(bank, reference) {
        verified(bank, reference);
        bank.refund(reference, status);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: paid,
    })),
    {
      name: 'cancelled by the payer: status 3',
      arrange: movesTo('3'),
      inquire: { state: 'cancelled' },
      verify: { state: 'cancelled' },
    },
    {
      name: 'failed at the bank: status 4',
      arrange: movesTo('4'),
      inquire: { state: 'failed', failureCode: 'gateway_error', code: '4' },
      verify: { state: 'failed', failureCode: 'gateway_error' },
    },
    {
      name: 'throws for an undocumented status',
      arrange: movesTo('9'),
      inquire: 'no_answer',
      verify: 'no_answer',
    },
    {
      name: 'does not verify another amount',
      arrange(bank, reference) {
        bank.pay(reference);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      inquire: { state: 'processing' },
      verify: { state: 'failed', failureCode: 'amount_mismatch', message: '2000 IRT' },
    },
    {
      name: 'returns another amount that was verified before',
      arrange(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      inquire: { state: 'paid', amount: 20_000, currency: 'IRR' },
      verify: { state: 'paid', amount: 20_000, currency: 'IRR' },
    },
    ...otherPaymentCases<Payping>(),
    {
      name: 'verified before, and the verification is about another payment: the report counts',
      arrange(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
        bank.mistakeOnce('PAY_another');
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...paidWithCard, cardPanMasked: null },
    },
    {
      name: 'throws when it is paid and the report has no number for the verification',
      arrange: movesTo('5'),
      inquire: { state: 'processing' },
      verify: 'no_answer',
    },
    ...refuses('verify', 400, 121, 127)({ state: 'failed', failureCode: 'payment_not_completed' }),
    ...refuses('verify', 400, 122)({ state: 'failed', failureCode: 'unknown', code: '122' }),
    ...refuses(
      'verify',
      400,
      133,
    )({ state: 'failed', failureCode: 'unknown', code: '133', message: 'problem 133' }),
    ...refuses('verify', 400, 137)({ state: 'failed', failureCode: 'amount_mismatch' }),
    // Under review, bank not reached, being verified, and verified while the report does not show it yet.
    ...refuses('verify', 400, 109, 114, 123, 155)({ state: 'processing' }),
    // Refusals about us, a fault of theirs, and undocumented codes.
    ...refuses('verify', 400, 101, 102, 103, 106, 108, 111, 112, 124, 130, 999)('no_answer'),
    ...refuses('verify', 409, 133, 999)('no_answer'),
    ...[401, 403, 404].flatMap((status) => refuses('verify', status, 0)('no_answer')),
    ...[400, 401, 403, 404].flatMap((status) => refuses('report', status, 0)('no_answer')),
  ],
  wire: [
    [money, { amount: 15_000, currency: 'IRT' }],
    [
      { amount: 3_000_000_000, currency: 'IRR' },
      { amount: 300_000_000, currency: 'IRT' },
    ],
    [
      { amount: 21_474_836_470, currency: 'IRR' },
      { amount: 2_147_483_647, currency: 'IRT' },
    ],
  ],
  rejected: [
    [{ amount: 150_005, currency: 'IRR' }, 'gateway_step'],
    [{ amount: 9, currency: 'IRR' }, 'gateway_bounds'],
    [{ amount: 21_474_836_480, currency: 'IRR' }, 'gateway_bounds'],
    [{ amount: 1_250, currency: 'USD' }, 'gateway_currency'],
    [{ amount: 500, currency: 'JPY' }, 'gateway_currency'],
    [{ amount: 1_250, currency: 'KWD' }, 'gateway_currency'],
  ],
  guards: [
    ['a live token in a sandbox account', 'sandbox', { liveToken: 'live-token-0123456789' }],
    ['a test token in a live account', 'live', { testToken: 'test-token-0123456789' }],
    ['a token without a kind', 'sandbox', { token: 'some-token-0123456789' }],
  ],
  paths: { open: /pay$/, inquire: /report/, verify: /verify/ },
};
