import { expect } from 'vitest';
import type { Case, ProviderFixture, RefusalCase } from './fixture.ts';
import {
  bothReturn,
  otherPaymentCases,
  otherThanRials,
  paidAs,
  paidThen,
  verifyReturns,
} from './cases.ts';
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

/** A payment that was verified before, of which the report shows no card. */
const verifiedBefore = (
  name: string,
  arrange: (bank: Payping, reference: string) => void,
  verify: Case<Payping>['verify'] = { ...paidWithCard, cardPanMasked: null },
): Case<Payping> => ({
  name,
  arrange(bank, reference) {
    verified(bank, reference);
    arrange(bank, reference);
  },
  inquire: { ...paid, cardPanMasked: null },
  verify,
});

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

type Code = Parameters<Payping['refuse']>[1]['code'];
const certain = (code: Code) => ({ code: String(code), message: `problem ${code}` });

const refusal =
  (name: string, status: number, ...codes: Code[]) =>
  (expected: RefusalCase<Payping>[2] | ((code: Code) => object)): RefusalCase<Payping>[] =>
    codes.map((code) => [
      `${status}, code ${code}`,
      (bank) => bank.refuse(name, { status, code }),
      typeof expected === 'function' ? expected(code) : expected,
    ]);

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
        paidThen((bank) => bank.verifyStatuses.push(status)),
        { state: 'processing' },
      ),
    ),
    ...[202, 502, 503].map((status) =>
      verifiedBefore(
        `verified before, and another verification responds ${status}: the report counts`,
        (bank) => bank.verifyStatuses.push(status),
      ),
    ),
    verifiedBefore(
      'verified before: 409 with the payment',
      (bank) => bank.setConflict(true),
      paidWithCard,
    ),
    verifiedBefore('verified before: 409 without the payment', (bank) => bank.setConflict(false)),
    ...[121, 122, 123, 127, 133, 137, 155, 999].map((code) =>
      verifiedBefore(
        `verified before, and another verification is refused with ${code}: the report counts`,
        (bank) => bank.refuse('verify', { status: 400, code }),
      ),
    ),
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
          paidThen((bank, reference) => {
            bank.moveBeforeNextVerify(reference, state);
            bank.refuse('verify', { status: 400, code });
          }),
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
    ...[1, 3].map((status) =>
      verifiedBefore(
        `a refund that is not complete: refund status ${status}`,
        (bank, reference) => bank.refund(reference, status),
        paid,
      ),
    ),
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
    verifiedBefore(
      'verified before, and the verification is about another payment: the report counts',
      (bank) => {
        bank.setConflict(true);
        bank.mistakeOnce('PAY_another');
      },
    ),
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
  openings: [
    ...refusal('', 400, 101, 102, 103, 105, 107, 111, 112, 113, 137, 164, 165)(certain),
    ...refusal('', 400, 104)((code) => ({ ...certain(code), failureCode: 'amount_not_accepted' })),
    ...[401, 403].flatMap((status) => refusal('', status, 0)(certain)),
    // Its body may be anything.
    ...[401, 403].flatMap((status) =>
      refusal('', status, 'empty')({ code: String(status), message: null }),
    ),
    // A success of another kind, a concurrent request, temporary problems, undocumented ones, those of a proxy.
    ...refusal('', 201, 0)('no_answer'),
    ...refusal('', 409, 104)('no_answer'),
    ...refusal('', 400, 106, 114, 999, null)('no_answer'),
    ...refusal('', 422, 0)('no_answer'),
    ...refusal('', 404, null)('no_answer'),
  ],
  reversals: [
    ...refusal('reverse', 400, 134, 135)(certain),
    // Being confirmed or reversed, bank not reached, conflicts, faults of theirs, unknown, about us.
    ...refusal('reverse', 400, 155, 156, 114, 126, 130, 106, 108, 131, 999, 101, null)('no_answer'),
    ...refusal('reverse', 409, 156, 999)('no_answer'),
    ...refusal('reverse', 202, 0, 134, null)('no_answer'),
    ...[401, 403, 404].flatMap((status) => refusal('reverse', status, 0)('no_answer')),
    ...[
      ...['', 'OK', {}, { amount: '150' }],
      // Of another payment, and of another amount.
      ...[{ amount: 15_000, clientRefId: 'PAY_another' }, { amount: 14_999 }],
    ].map((body): RefusalCase<Payping> => [
      `200 with ${JSON.stringify(body)}`,
      (bank) => bank.respondOnce('reverse', { status: 200, body }),
      'no_answer',
    ]),
  ],
  // PayPing documents no other status of a return.
  hints: { paid: 'paid', unpaid: 'nothing' },
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
    ...otherThanRials,
  ],
  guards: [
    ['a live token in a sandbox account', 'sandbox', { liveToken: 'live-token-0123456789' }],
    ['a test token in a live account', 'live', { testToken: 'test-token-0123456789' }],
    ['a token without a kind', 'sandbox', { token: 'some-token-0123456789' }],
  ],
  paths: { open: /pay$/, inquire: /report/, verify: /verify/, reverse: /reverse/ },
};
