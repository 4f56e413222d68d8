import type { FailureCode } from '../../../contract/failure-codes.ts';
import type { Scene, Subject } from './subject.ts';
import { answersAboutAnother } from './scenes.ts';
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
  ['15', 'payment_reversed'],
  ['16', 'payment_reversed'],
  ['18', 'payment_reversed'],
  ['21', 'merchant_configuration'],
];

const failed = failures.map(([status, failureCode]): Scene<Zibal> => {
  const answer = { state: 'failed', failureCode, code: status, message: null } as const;
  return {
    what: `failed: status ${status}, ${failureCode}`,
    play: (bank, reference) => bank.move(reference, status),
    inquire: answer,
    verify: answer,
  };
});

const refuses = (name: string, ...codes: number[]) =>
  codes.map((code): Scene<Zibal> => ({
    what: `${name} is refused: ${code}`,
    play(bank, reference) {
      bank.pay(reference);
      // Once for each question that is asked.
      bank.refuse(name, ...(name === 'inquiry' ? [code, code] : [code]));
    },
    inquire: name === 'inquiry' ? 'no_answer' : { state: 'processing' },
    verify: 'no_answer',
  }));

const alreadyVerified = (bank: Zibal, reference: string) => {
  bank.pay(reference);
  bank.move(reference, '1');
};

export const zibal: Subject<Zibal> = {
  driver: 'zibal',
  credentials: { sandbox: { merchant: 'zibal' }, live: { merchant: 'live-merchant' } },
  money,
  unknown: '4111111111',
  // It goes back, after a time that is not stated.
  verifyWindowSeconds: null,
  start: () => startZibal(),
  scenes: [
    {
      what: 'waiting: −1',
      play() {},
      inquire: { state: 'waiting' },
      verify: { state: 'waiting' },
    },
    {
      what: 'paid, to be verified: 2',
      play: (bank, reference) => bank.pay(reference),
      inquire: { state: 'processing' },
      verify: { ...paid, cardPanMasked: '502229******1234' },
    },
    {
      what: 'FS-14: already verified: 1',
      play: alreadyVerified,
      inquire: { ...paid, cardPanMasked: '502229******1234' },
      verify: { ...paid, cardPanMasked: '502229******1234' },
    },
    {
      what: 'FS-14: verified by somebody else between inquiry and verification: 201, no number',
      play(bank, reference) {
        bank.pay(reference);
        bank.verifyBeforeNextVerify(reference);
      },
      inquire: { state: 'processing' },
      verify: { ...paid, cardPanMasked: '502229******1234' },
    },
    {
      what: 'cancelled by the payer: 3',
      play: (bank, reference) => bank.move(reference, '3'),
      inquire: { state: 'cancelled' },
      verify: { state: 'cancelled' },
    },
    ...failed,
    {
      what: 'a status that nobody told us of',
      play: (bank, reference) => bank.move(reference, '99'),
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
      verify: { state: 'failed', failureCode: 'amount_mismatch', message: '2000 IRR' },
    },
    {
      what: 'FS-08: another amount than ours, verified already, is told as it is',
      play(bank, reference) {
        alreadyVerified(bank, reference);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      inquire: { state: 'paid', amount: 2_000, currency: 'IRR' },
      verify: { state: 'paid', amount: 2_000, currency: 'IRR' },
    },
    ...answersAboutAnother<Zibal>(),
    {
      what: 'FS-14: already verified, and without a number',
      play(bank, reference) {
        alreadyVerified(bank, reference);
        bank.refNumberAs(() => null);
      },
      inquire: { ...paid, trackingCode: null },
      verify: { ...paid, trackingCode: null },
    },
    {
      what: 'refNumber as a text',
      play(bank, reference) {
        bank.pay(reference);
        bank.refNumberAs(() => '000123456789012345678');
      },
      inquire: { state: 'processing' },
      verify: { ...paid, trackingCode: '000123456789012345678' },
    },
    {
      what: 'refNumber as a number',
      play(bank, reference) {
        bank.pay(reference);
        bank.refNumberAs(() => 123_456_789);
      },
      inquire: { state: 'processing' },
      verify: { ...paid, trackingCode: '123456789' },
    },
    ...(
      [
        ['5', 'insufficient_funds'],
        ['18', 'payment_reversed'],
      ] as const
    ).map(([state, failureCode]): Scene<Zibal> => ({
      what: `status ${state} between inquiry and verification: 202, and the inquiry says it then`,
      play(bank, reference) {
        bank.pay(reference);
        bank.moveBeforeNextVerify(reference, state);
      },
      inquire: { state: 'processing' },
      verify: { state: 'failed', failureCode, code: state },
    })),
    // Of 202, not paid, as well: the inquiry goes on saying that it is.
    ...refuses('verify', 102, 103, 104, 115, 202, 203, 999),
    ...refuses('inquiry', 102, 115, 203, 999),
  ],
  wire: [
    [money, money],
    [
      { amount: 3_000_000_000, currency: 'IRR' },
      { amount: 3_000_000_000, currency: 'IRR' },
    ],
    [
      { amount: 999_999_999_999, currency: 'IRR' },
      { amount: 999_999_999_999, currency: 'IRR' },
    ],
  ],
  refused: [
    [{ amount: 1_000, currency: 'IRR' }, 'gateway_bounds'],
    [{ amount: 1_250, currency: 'USD' }, 'gateway_currency'],
    [{ amount: 500, currency: 'JPY' }, 'gateway_currency'],
    [{ amount: 1_250, currency: 'KWD' }, 'gateway_currency'],
  ],
  hints: { paid: 'paid', unpaid: 'unpaid' },
  guards: [
    ['a live merchant in a sandbox account', 'sandbox', { merchant: 'live-merchant' }],
    ['the sandbox merchant in a live account', 'live', { merchant: 'zibal' }],
    ['no credentials', 'live', {}],
  ],
  paths: { open: /request/, inquire: /inquiry/, verify: /verify/ },
};
