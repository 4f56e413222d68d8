import { expect } from 'vitest';
import type { Case, ProviderFixture } from './fixture.ts';
import { bothReturn, otherPaymentCases, paidAs, verifyReturns } from './cases.ts';
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
    bothReturn('waiting: status 0', () => {}, { state: 'waiting' }),
    bothReturn('waiting at the bank: status 2', movesTo('2'), { state: 'waiting' }),
    verifyReturns(
      'paid, not verified: status 5',
      (bank, reference) => bank.pay(reference),
      paidWithCard,
    ),
    ...[202, 502].map((status): Case<Payping> =>
      bothReturn(
        `processing: the verification responds ${status}`,
        (bank, reference) => {
          bank.pay(reference);
          bank.verifyStatuses.push(status);
        },
        { state: 'processing' },
      ),
    ),
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
      [121, 133].map((code): Case<Payping> =>
        verifyReturns(
          `status ${state} between report and verification, which is refused with ${code}`,
          (bank, reference) => {
            bank.pay(reference);
            bank.moveBeforeNextVerify(reference, state);
            bank.refuse('verify', { status: 400, code });
          },
          verify,
        ),
      ),
    ),
    bothReturn('verified, and the report has no number', movesTo('1'), {
      ...paid,
      trackingCode: null,
    }),
    bothReturn(
      'refunded',
      (bank, reference) => {
        verified(bank, reference);
        bank.setConflict(true);
        bank.refund(reference, 2);
      },
      { state: 'failed', failureCode: 'payment_reversed' },
    ),
    ...[1, 3].map((status): Case<Payping> => ({
      name: `a refund that is not complete: refund status ${status}`,
      arrange(bank, reference) {
        verified(bank, reference);
        bank.refund(reference, status);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: paid,
    })),
    bothReturn('cancelled by the payer: status 3', movesTo('3'), { state: 'cancelled' }),
    {
      name: 'failed at the bank: status 4',
      arrange: movesTo('4'),
      inquire: { state: 'failed', failureCode: 'gateway_error', code: '4' },
      verify: { state: 'failed', failureCode: 'gateway_error' },
    },
    bothReturn('throws for an undocumented status', movesTo('9'), 'no_answer'),
    verifyReturns('does not verify another amount', paidAs({ amount: 2_000 }), {
      state: 'failed',
      failureCode: 'amount_mismatch',
      message: '20,000 IRR',
    }),
    bothReturn(
      'returns another amount that was verified before',
      (bank, reference) => {
        verified(bank, reference);
        bank.setConflict(true);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      { state: 'paid', amount: 20_000, currency: 'IRR' },
    ),
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
    verifyReturns(
      'throws when it is paid and the report has no number for the verification',
      movesTo('5'),
      'no_answer',
    ),
    ...refuses('verify', 400, 121, 127)({ state: 'failed', failureCode: 'payment_not_completed' }),
    ...refuses('verify', 400, 122)({ state: 'failed', failureCode: 'unknown', code: '122' }),
    ...[400, 409].flatMap((status) =>
      refuses(
        'verify',
        status,
        133,
      )({ state: 'failed', failureCode: 'unknown', code: '133', message: 'problem 133' }),
    ),
    ...refuses('verify', 400, 137)({ state: 'failed', failureCode: 'amount_mismatch' }),
    // Under review, bank not reached, being verified, and verified while the report does not show it yet.
    ...refuses('verify', 400, 109, 114, 123, 155)({ state: 'processing' }),
    // Refusals about us, a fault of theirs, and undocumented codes.
    ...refuses('verify', 400, 101, 102, 103, 106, 108, 111, 112, 124, 130, 999)('no_answer'),
    ...refuses('verify', 409, 121, 122, 137, 999)('no_answer'),
    ...[401, 403, 404].flatMap((status) => refuses('verify', status, 0)('no_answer')),
    ...[400, 401, 403, 404].flatMap((status) => refuses('report', status, 0)('no_answer')),
  ],
  wire: [
    [money, { amount: 15_000, currency: 'IRT' }],
    [
      { amount: 500_000_000, currency: 'IRR' },
      { amount: 50_000_000, currency: 'IRT' },
    ],
  ],
  rejected: [
    [{ amount: 150_005, currency: 'IRR' }, 'gateway_step'],
    [{ amount: 9_990, currency: 'IRR' }, 'gateway_bounds'],
    [{ amount: 500_000_010, currency: 'IRR' }, 'gateway_bounds'],
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
