import { expect } from 'vitest';
import type { Scene, Subject } from './subject.ts';
import { answersAboutAnother } from './scenes.ts';
import { startPayping } from '../../fakes/payping.ts';

type Payping = Awaited<ReturnType<typeof startPayping>>;

const money = { amount: 150_000, currency: 'IRR' };
const paid = { state: 'paid', ...money } as const;
const whole = {
  ...paid,
  trackingCode: expect.stringMatching(/^\d{10}$/) as string,
  cardPanMasked: '502229******1234',
} as const;

const moves = (state: string) => (bank: Payping, reference: string) => bank.move(reference, state);

const verified = (bank: Payping, reference: string) => {
  bank.pay(reference);
  bank.move(reference, '1');
};

const refuses =
  (name: string, status: number, ...codes: number[]) =>
  (verify: Scene<Payping>['verify']): Scene<Payping>[] =>
    codes.map((code) => ({
      what: `${name} is refused: ${status}, code ${code}`,
      play(bank, reference) {
        bank.pay(reference);
        const reply = { status, code };
        // Once for each question that is asked.
        bank.refuse(name, ...(name === 'report' ? [reply, reply] : [reply]));
      },
      inquire: name === 'report' ? 'no_answer' : { state: 'processing' },
      verify,
    }));

export const payping: Subject<Payping> = {
  driver: 'payping',
  credentials: {
    sandbox: { testToken: 'test-token-0123456789' },
    live: { liveToken: 'live-token-0123456789' },
  },
  money,
  unknown: 'pc999999',
  verifyWindowSeconds: 10 * 60,
  start: () => startPayping(),
  scenes: [
    { what: 'waiting: 0', play() {}, inquire: { state: 'waiting' }, verify: { state: 'waiting' } },
    {
      what: 'waiting: 2, the payer is at the bank',
      play: moves('2'),
      inquire: { state: 'waiting' },
      verify: { state: 'waiting' },
    },
    {
      what: 'paid, to be verified: 5',
      play: (bank, reference) => bank.pay(reference),
      inquire: { state: 'processing' },
      verify: whole,
    },
    ...[202, 502].map((status): Scene<Payping> => ({
      what: `settling: verified with ${status}`,
      play(bank, reference) {
        bank.pay(reference);
        bank.settling.push(status);
      },
      inquire: { state: 'processing' },
      verify: { state: 'processing' },
    })),
    ...[202, 502, 503].map((status): Scene<Payping> => ({
      what: `verified, says the report, and its verification ${status}: the report is right`,
      play(bank, reference) {
        verified(bank, reference);
        bank.settling.push(status);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...whole, cardPanMasked: null },
    })),
    {
      what: 'FS-14: already verified, 409 with the payment',
      play(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: whole,
    },
    {
      what: 'FS-14: already verified, 409 without the payment',
      play(bank, reference) {
        verified(bank, reference);
        bank.setConflict(false);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...whole, cardPanMasked: null },
    },
    ...[121, 122, 123, 127, 133, 137, 155, 999].map((code): Scene<Payping> => ({
      what: `FS-14: verified before, its answer lost, and refused now in other words: ${code}`,
      play(bank, reference) {
        verified(bank, reference);
        bank.refuse('verify', { status: 400, code });
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...whole, cardPanMasked: null },
    })),
    ...(
      [
        ['1', paid],
        ['3', { state: 'cancelled' }],
        ['4', { state: 'failed', failureCode: 'gateway_error' }],
      ] as const
    ).flatMap(([state, verify]) =>
      [121, 133].map((code): Scene<Payping> => ({
        what: `FS-14: ${state} between report and verification, which is refused: ${code}`,
        play(bank, reference) {
          bank.pay(reference);
          bank.moveBeforeNextVerify(reference, state);
          bank.refuse('verify', { status: 400, code });
        },
        inquire: { state: 'processing' },
        verify,
      })),
    ),
    {
      what: 'FS-14: verified, and the report has no number',
      play: moves('1'),
      inquire: { ...paid, trackingCode: null },
      verify: { ...paid, trackingCode: null },
    },
    {
      what: 'FS-21: given back, says the report',
      play(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
        bank.refund(reference, 2);
      },
      inquire: { state: 'failed', failureCode: 'payment_reversed' },
      verify: { state: 'failed', failureCode: 'payment_reversed' },
    },
    ...[1, 3].map((status): Scene<Payping> => ({
      what: `FS-21: to be given back, and not yet: ${status}`,
      play(bank, reference) {
        verified(bank, reference);
        bank.refund(reference, status);
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: paid,
    })),
    {
      what: 'cancelled by the payer: 3',
      play: moves('3'),
      inquire: { state: 'cancelled' },
      verify: { state: 'cancelled' },
    },
    {
      what: 'failed: the bank did not confirm: 4',
      play: moves('4'),
      inquire: { state: 'failed', failureCode: 'gateway_error', code: '4' },
      verify: { state: 'failed', failureCode: 'gateway_error' },
    },
    {
      what: 'a status that nobody told us of',
      play: moves('9'),
      inquire: 'no_answer',
      verify: 'no_answer',
    },
    {
      what: 'FS-08: another amount than ours is not taken',
      play(bank, reference) {
        bank.pay(reference);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      inquire: { state: 'processing' },
      verify: { state: 'failed', failureCode: 'amount_mismatch', message: '2000 IRT' },
    },
    {
      what: 'FS-08: another amount than ours, verified already, is told as it is',
      play(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      inquire: { state: 'paid', amount: 20_000, currency: 'IRR' },
      verify: { state: 'paid', amount: 20_000, currency: 'IRR' },
    },
    ...answersAboutAnother<Payping>(),
    {
      what: 'FS-08: verified before, and it names another payment: the report is right',
      play(bank, reference) {
        verified(bank, reference);
        bank.setConflict(true);
        bank.mistakeOnce('PAY_another');
      },
      inquire: { ...paid, cardPanMasked: null },
      verify: { ...whole, cardPanMasked: null },
    },
    {
      what: 'paid, but the report has no number to verify it by',
      play: moves('5'),
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
    // Under review, the bank was not reached, being verified; and verified, of which its report knows
    // nothing yet.
    ...refuses('verify', 400, 109, 114, 123, 155)({ state: 'processing' }),
    // About us, a fault there, or in no document.
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
  refused: [
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
    ['a token that is not named', 'sandbox', { token: 'some-token-0123456789' }],
  ],
  paths: { open: /pay$/, inquire: /report/, verify: /verify/ },
};
