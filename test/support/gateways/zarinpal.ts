import { expect } from 'vitest';
import type { Scene, Subject } from './subject.ts';
import { startZarinpal } from '../../fakes/zarinpal.ts';

type Zarinpal = Awaited<ReturnType<typeof startZarinpal>>;

const merchantId = '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42';
const money = { amount: 150_000, currency: 'IRR' };
const paid = { state: 'paid', ...money } as const;

const moves = (state: string) => (bank: Zarinpal, reference: string) => bank.move(reference, state);

/** A verification that is refused by this code, once, although the money is there. */
const refuses =
  (name: string, ...codes: number[]) =>
  (verify: Scene<Zarinpal>['verify']): Scene<Zarinpal>[] =>
    codes.map((code) => ({
      what: `${name} is refused: ${code}`,
      play(bank, reference) {
        bank.pay(reference);
        // Once for each question that is asked.
        bank.refuse(name, ...(name === 'inquiry' ? [code, code] : [code]));
      },
      inquire: name === 'inquiry' ? 'no_answer' : { state: 'processing' },
      verify,
    }));

export const zarinpal: Subject<Zarinpal> = {
  driver: 'zarinpal',
  credentials: { sandbox: { merchantId }, live: { merchantId } },
  money,
  unknown: `S${'9'.repeat(35)}`,
  verifyWindowSeconds: null,
  start: (mode) => startZarinpal({ prefix: mode === 'live' ? 'A' : 'S' }),
  scenes: [
    {
      what: 'waiting: IN_BANK',
      play() {},
      inquire: { state: 'waiting' },
      verify: { state: 'waiting' },
    },
    {
      what: 'paid, to be verified: PAID',
      play: (bank, reference) => bank.pay(reference),
      inquire: { state: 'processing' },
      verify: {
        ...paid,
        trackingCode: expect.stringMatching(/^\d{10}$/) as string,
        cardPanMasked: '502229******1234',
      },
    },
    {
      what: 'FS-14: already verified, 101 with ref_id',
      play(bank, reference) {
        bank.pay(reference);
        bank.move(reference, 'VERIFIED');
      },
      inquire: { ...paid, trackingCode: null },
      verify: { ...paid, cardPanMasked: '502229******1234' },
    },
    {
      what: 'FS-14: already verified, 101 without ref_id',
      play(bank, reference) {
        bank.pay(reference);
        bank.move(reference, 'VERIFIED');
        bank.forgetRefIdOnce();
      },
      inquire: { ...paid, trackingCode: null },
      verify: { ...paid, trackingCode: null, cardPanMasked: '502229******1234' },
    },
    {
      what: 'failed: NOK cannot be told from a cancel',
      play: moves('FAILED'),
      inquire: { state: 'failed', failureCode: 'payment_not_completed', code: 'FAILED' },
      verify: { state: 'failed', failureCode: 'payment_not_completed' },
    },
    {
      what: 'reversed before it was verified',
      play: moves('REVERSED'),
      inquire: { state: 'failed', failureCode: 'payment_reversed' },
      verify: { state: 'failed', failureCode: 'payment_reversed' },
    },
    {
      what: 'a state that nobody told us of',
      play: moves('ON_HOLD'),
      inquire: 'no_answer',
      verify: 'no_answer',
    },
    {
      what: 'FS-08: another amount than ours',
      play(bank, reference) {
        bank.pay(reference);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 1_000;
      },
      inquire: { state: 'processing' },
      verify: { state: 'failed', failureCode: 'amount_mismatch', code: '-50' },
    },
    // The inquiry says that it is paid, and goes on saying so: that contradicts itself.
    ...refuses('verify', -51)('no_answer'),
    {
      what: 'verified, says the inquiry, and not paid, says the verification: −51',
      play(bank, reference) {
        bank.pay(reference);
        bank.move(reference, 'VERIFIED');
        bank.refuse('verify', -51);
      },
      inquire: { ...paid, trackingCode: null },
      verify: 'no_answer',
    },
    ...(
      [
        ['FAILED', 'payment_not_completed'],
        ['REVERSED', 'payment_reversed'],
      ] as const
    ).map(([state, failureCode]): Scene<Zarinpal> => ({
      what: `${state} between inquiry and verification: −51, and the inquiry says it then`,
      play(bank, reference) {
        bank.pay(reference);
        bank.moveBeforeNextVerify(reference, state);
      },
      inquire: { state: 'processing' },
      verify: { state: 'failed', failureCode, code: state },
    })),
    // About our account, too many attempts, a fault over there: none of them is the payment's outcome.
    ...refuses('verify', -10, -11, -12, -15, -52, -53, -54, -99)('no_answer'),
    ...refuses('inquiry', -10, -12, -52, -54)('no_answer'),
    {
      what: 'a whole card number is not kept',
      play(bank, reference) {
        bank.pay(reference);
        const entry = bank.book.get(reference);
        if (entry) entry.card = '5022291234561234';
      },
      inquire: { state: 'processing' },
      verify: { ...paid, cardPanMasked: '502229******1234' },
    },
    {
      what: 'a card number that shows other digits is not kept',
      play(bank, reference) {
        bank.pay(reference);
        const entry = bank.book.get(reference);
        if (entry) entry.card = '50222****12345';
      },
      inquire: { state: 'processing' },
      verify: { ...paid, cardPanMasked: null },
    },
  ],
  wire: [
    [money, money],
    [
      { amount: 1_000_000_000, currency: 'IRR' },
      { amount: 1_000_000_000, currency: 'IRR' },
    ],
  ],
  refused: [
    [{ amount: 1_000_000_001, currency: 'IRR' }, 'gateway_bounds'],
    [{ amount: 3_000_000_000, currency: 'IRR' }, 'gateway_bounds'],
    [{ amount: 1_250, currency: 'USD' }, 'gateway_currency'],
    [{ amount: 500, currency: 'JPY' }, 'gateway_currency'],
    [{ amount: 1_250, currency: 'KWD' }, 'gateway_currency'],
  ],
  hints: { paid: 'paid', unpaid: 'unpaid' },
  guards: [
    ['a merchant that is no UUID', 'sandbox', { merchantId: 'not-a-merchant-id' }],
    ['a credential too many', 'live', { merchantId, secretKey: 'sk_live_secret' }],
    ['no credentials', 'live', {}],
  ],
  paths: { open: /request/, inquire: /inquiry/, verify: /verify/ },
};
