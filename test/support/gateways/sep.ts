import { expect } from 'vitest';
import type { Case, ProviderFixture } from './fixture.ts';
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
import { startSep } from '../../fakes/sep.ts';

type Sep = Awaited<ReturnType<typeof startSep>>;

const money = { amount: 150_000, currency: 'IRR' };
const paid = { state: 'paid', ...money } as const;
const paidWithCard = { ...paid, cardPanMasked: '502229******1234' };
const minutes = (count: number) => count * 60_000;

const movesTo = (state: string) => (bank: Sep, reference: string) => bank.move(reference, state);
const tells = (fields: object) => (bank: Sep, reference: string) => {
  bank.pay(reference);
  bank.tell(reference, fields);
};

const mismatch = (name: string, fields: object, message: string): Case<Sep> =>
  verifyReturns(name, tells(fields), {
    ...{ state: 'failed', failureCode: 'amount_mismatch', message },
  });

const answers = (name: string, fields: object, verify: Case<Sep>['verify']): Case<Sep> =>
  verifyReturns(
    name,
    paidThen((bank) => bank.mistakeOnce(fields)),
    verify,
  );

const refused = (code: number) => ({ code: String(code), message: `code ${code}` });
const refusesOpening = (bank: Sep, code: number) => bank.refuse('request', code);
const refusesReversal = (bank: Sep, code: number) => bank.refuse('reverse', code);

/** As after an hour, or a verification. */
const noReceipt = { body: { HasError: true, ErrorCode: 404, Data: null } };

export const sep: ProviderFixture<Sep> = {
  driver: 'sep',
  credentials: { sandbox: { terminalId: '2015' }, live: { terminalId: '2015' } },
  money,
  unknown: '2c3c1fefac5a48geb9f9be7e99999999',
  verifyWindowSeconds: 30 * 60,
  start: () => startSep(),
  cases: [
    bothReturn('waiting: InProgress', () => {}, { state: 'waiting' }),
    verifyReturns('paid, not verified: OK', (bank, reference) => bank.pay(reference), {
      ...paidWithCard,
      trackingCode: expect.stringMatching(/^uP\+A\/X\d+==$/) as string,
    }),
    bothReturn('cancelled by the payer: CanceledByUser', movesTo('CanceledByUser'), {
      state: 'cancelled',
    }),
    bothReturn('failed: Failed', movesTo('Failed'), {
      ...{ state: 'failed', failureCode: 'payment_not_completed', code: 'Failed' },
    }),
    bothReturn('throws for an undocumented state', movesTo('OnHold'), 'no_answer'),
    ...[
      { Status: 3 },
      { State: 'Failed' },
      { Status: '2' },
      { RefNum: null },
      { Amount: null },
    ].map((fields) =>
      bothReturn<Sep>(
        `throws for a receipt with ${JSON.stringify(fields)}`,
        tells(fields),
        'no_answer',
      ),
    ),
    ...[{ Token: 'another' }, { TerminalId: 2016 }, { ResNum: 'PAY_another' }].map((fields) =>
      bothReturn<Sep>(
        `throws for the receipt of another payment: ${JSON.stringify(fields)}`,
        tells(fields),
        'no_answer',
      ),
    ),
    mismatch(
      'does not verify another amount',
      { Amount: 2_000, AffectiveAmount: 2_000 },
      '2,000 IRR',
    ),
    mismatch('does not verify a wage', { AffectiveAmount: 150_100 }, '150,100 IRR'),
    mismatch('does not verify a discount', { AffectiveAmount: 149_000 }, '149,000 IRR'),
    answers(
      'returns another amount that was verified',
      { OrginalAmount: 2_000 },
      {
        ...{ state: 'paid', amount: 2_000, currency: 'IRR' },
      },
    ),
    answers(
      'returns another charge that was verified',
      { AffectiveAmount: 2_000 },
      {
        ...{ state: 'paid', amount: 2_000, currency: 'IRR' },
      },
    ),
    answers('throws for details of another RefNum', { RefNum: '50' }, 'no_answer'),
    answers('throws for details of another terminal', { TerminalNumber: 2001 }, 'no_answer'),
    answers('throws for details without an amount', { OrginalAmount: null }, 'no_answer'),
    answers('paid without a card number', { MaskedPan: null }, { ...paid, cardPanMasked: null }),
    verifyReturns('masks a whole card number', paidAs({ card: '5022291234561234' }), paidWithCard),
    verifyReturns(
      'details whose name begins with a blank, as in the example',
      paidThen((bank) => bank.putBlankInDetailOnce()),
      paidWithCard,
    ),
    verifyReturns(
      'too late to be verified, so the money has gone home: −6',
      paidThen((bank) => bank.passTime(minutes(31))),
      { state: 'failed', failureCode: 'payment_reversed', code: '-6' },
    ),
    ...refuses('verify', 5)({ state: 'failed', failureCode: 'payment_reversed', code: '5' }),
    // "Done before", and the receipt has named the amount.
    ...refuses('verify', 2)({ ...paid, cardPanMasked: null }),
    // About our account, a RefNum that the receipt contradicts, and undocumented.
    ...refuses('verify', -2, -104, -105, -106, -111, 1, 99)('no_answer'),
    ...refuses('inquiry', 8, 12, 20, 404, -1)('no_answer'),
  ],
  openings: [
    ...refusedWith([5, 8, 12, 20], refusesOpening, refused),
    ...refusedWith([-33, -1, 0, 4, 9, 21, 404], refusesOpening, 'no_answer'),
    [
      'the undocumented success without a token',
      (bank) => bank.respondOnce('request', { body: { status: 1 } }),
      'no_answer',
    ],
  ],
  reversals: [
    ...refusedWith([-104, -105, -106], refusesReversal, (code) => ({
      ...{ code: String(code), message: `result ${code}` },
    })),
    // It may have been done.
    ...refusedWith([-2, -6, -99, 2, 5], refusesReversal, 'no_answer'),
  ],
  wire: unchanged(
    money,
    { amount: 3_000_000_000, currency: 'IRR' },
    { amount: 999_999_999_999, currency: 'IRR' },
  ),
  rejected: [[{ amount: 1_999, currency: 'IRR' }, 'gateway_bounds'], ...otherThanRials],
  hints: { paid: 'paid', unpaid: 'unpaid' },
  proof: {
    field: 'RefNum',
    names: ['Token', 'ResNum'],
    forget: (bank, does) => bank.failAll(/receipt/, does ? noReceipt : undefined),
  },
  guards: [
    ['a terminal that is not a number', 'live', { terminalId: 'MID-0123456789' }],
    ['an unknown credential', 'live', { terminalId: '2015', password: 'secret-secret' }],
    ['no credentials', 'live', {}],
  ],
  paths: { open: /onlinepg/, inquire: /receipt/, verify: /VerifyTransaction/ },
};
