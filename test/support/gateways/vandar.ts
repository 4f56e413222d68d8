import { startVandar } from '../../fakes/vandar.ts';
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
import type { Case, ProviderFixture } from './fixture.ts';

export type Vandar = Awaited<ReturnType<typeof startVandar>>;

const money = { amount: 150_000, currency: 'IRR' };
const paid = { state: 'paid', ...money } as const;

/** Nobody has renewed the tokens yet, or just now. */
export const vandarRefunds = {
  business: 'my-shop',
  accessToken: 'access-token-0',
  refreshToken: 'refresh-token-0',
};

const alreadyVerified = (bank: Vandar, reference: string) => {
  bank.pay(reference);
  bank.move(reference, '2');
};

const refused = (status: number) => ({
  code: String(status),
  message: `refused with ${status}`,
});
const refusesOpening = (bank: Vandar, status: number) => bank.refuse('send', status);
const unpaid = (body: object, status = 200) => ({ status, body });

const amountLike = (amount: unknown) =>
  paidThen((bank: Vandar, reference) => bank.tellAmount(reference, amount));

/** One case: what an inquiry gets before the payer has paid. */
const unpaidIs = (name: string, response: ReturnType<typeof unpaid>, state: 'waiting' | null) =>
  bothReturn<Vandar>(
    name,
    (bank, reference) => bank.unpaidAs(reference, response),
    state === null ? 'no_answer' : { state },
  );

export const vandar: ProviderFixture<Vandar> = {
  driver: 'vandar',
  credentials: {
    sandbox: { apiKey: 'test' },
    live: { apiKey: 'live-key-0123456789', refunds: vandarRefunds },
  },
  money,
  unknown: 'UNKNOWN0000000',
  // 20 minutes after the payer was sent, so a payer who pays late may leave us seconds.
  verifyWindowSeconds: null,
  start: () => startVandar(),
  cases: [
    unpaidIs(
      'waiting: the text of an error',
      unpaid({ status: 0, errors: ['تراکنش با خطا مواجه شده است'] }, 422),
      'waiting',
    ),
    unpaidIs(
      'waiting: code 0',
      unpaid({ status: 1, amount: '150000', transId: 155_058_785_697, code: 0, message: '' }),
      'waiting',
    ),
    unpaidIs(
      'throws for a refusal that is about the account',
      unpaid({ status: 0, errors: ['IP پذیرنده معتبر نیست'] }, 422),
      null,
    ),
    unpaidIs('throws for an undocumented status', unpaid({ status: 7, errors: [] }), null),
    unpaidIs(
      'throws for an undocumented code',
      unpaid({ status: 1, amount: '150000', transId: 1, code: 5 }),
      null,
    ),
    verifyReturns('paid, not verified: code 1', (bank, reference) => bank.pay(reference), {
      ...paid,
      cardPanMasked: '502229******1234',
    }),
    bothReturn('verified before: code 2', alreadyVerified, {
      ...paid,
      cardPanMasked: '502229******1234',
    }),
    verifyReturns(
      'verified by another call between inquiry and verification: status 2',
      paidThen((bank, reference) => bank.verifyBeforeNextVerify(reference)),
      { ...paid, cardPanMasked: '502229******1234' },
    ),
    bothReturn('too late: code 3', (bank, reference) => bank.move(reference, '3'), {
      state: 'expired',
    }),
    bothReturn('failed: code 4', (bank, reference) => bank.move(reference, '4'), {
      state: 'failed',
      failureCode: 'payment_not_completed',
      code: '4',
    }),
    // A tenth and ten times the amount: the unit of an account is in doubt.
    ...[15_000, 1_500_000, 150_500].map((amount) =>
      verifyReturns<Vandar>(`does not verify ${amount}`, paidAs({ amount }), {
        state: 'failed',
        failureCode: 'amount_mismatch',
        message: `${amount.toLocaleString('en')} IRR`,
      }),
    ),
    bothReturn(
      'returns another amount that was verified before',
      (bank, reference) => {
        alreadyVerified(bank, reference);
        const entry = bank.book.get(reference);
        if (entry) entry.amount = 2_000;
      },
      { state: 'paid', amount: 2_000, currency: 'IRR' },
    ),
    ...otherPaymentCases<Vandar>(),
    verifyReturns('amount with decimals', amountLike('150000.00'), paid),
    verifyReturns('amount as a number', amountLike(150_000), paid),
    bothReturn('throws for a part of a rial', amountLike('150000.50'), 'no_answer'),
    ...(
      [
        ['3', { state: 'expired' }],
        ['4', { state: 'failed', failureCode: 'payment_not_completed' }],
      ] as const
    ).map(([state, expected]): Case<Vandar> =>
      verifyReturns(
        `code ${state} between inquiry and verification: the next inquiry shows it`,
        paidThen((bank, reference) => bank.moveBeforeNextVerify(reference, state)),
        expected,
      ),
    ),
    // The inquiry still says that it waits for the verification.
    ...refuses('verify', 400, 401, 403, 404, 422)('no_answer'),
    ...refuses('inquiry', 400, 401, 403, 404, 422)('no_answer'),
  ],
  openings: [
    ...refusedWith([400, 401, 403, 422], refusesOpening, refused),
    ...refusedWith([404, 405, 406, 410, 418], refusesOpening, 'no_answer'),
    [
      'below the least amount',
      (bank) =>
        bank.respondOnce('send', {
          status: 422,
          body: { status: 0, errors: ['amount نباید کوچکتر از 1000 باشد.'] },
        }),
      {
        code: '422',
        message: 'amount نباید کوچکتر از 1000 باشد.',
        failureCode: 'amount_not_accepted',
      },
    ],
  ],
  wire: unchanged(
    money,
    { amount: 1_000, currency: 'IRR' },
    { amount: 999_999_999_999, currency: 'IRR' },
  ),
  rejected: [[{ amount: 999, currency: 'IRR' }, 'gateway_bounds'], ...otherThanRials],
  hints: { paid: 'paid', unpaid: 'unpaid' },
  guards: [
    ['a live key in a sandbox account', 'sandbox', { apiKey: 'live-key-0123456789' }],
    ['the test key in a live account', 'live', { apiKey: 'test' }],
    ['no credentials', 'live', {}],
    ['refunds in a sandbox account', 'sandbox', { apiKey: 'test', refunds: vandarRefunds }],
  ],
  refunds: {
    kind: 'live',
    carriesOurId: true,
    book: (bank, reference) => bank.of(reference),
    atDashboard: (bank, reference, amount) => bank.refundAtDashboard(reference, amount),
    states: (
      [
        ['-2', { state: 'pending' }],
        ['2', { state: 'succeeded' }],
        ['-3', { state: 'failed', failureCode: 'gateway_refused' }],
        ['-4', { state: 'failed', failureCode: 'cancelled' }],
        ['-6', { state: 'failed', failureCode: 'returned_by_bank' }],
      ] as const
    ).map(([state, expected]) => [
      state,
      (bank, reference) => bank.moveRefunds(reference, state),
      expected,
    ]),
    refusals: (
      [
        [403, 'merchant_configuration'],
        [404, 'not_refundable'],
        [422, 'gateway_refused'],
        // The token has ended, or was renewed just now: the refund waits.
        ...([400, 401, 402, 405, 406, 410] as const).map((code) => [code, 'no_answer'] as const),
      ] as const
    ).map(([code, failureCode]) => [String(code), (bank) => bank.refuseRefunds(code), failureCode]),
    reset: (bank) => bank.refuseRefunds(undefined),
    paths: { refund: /\/refund$/, list: /\?id=/ },
  },
  paths: { open: /send/, inquire: /transaction$/, verify: /verify/ },
};
