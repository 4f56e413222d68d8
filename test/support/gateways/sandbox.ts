import { failureReasons, type FailureCode } from '../../../contract/failure-codes.ts';
import { createSandboxPayments } from '../../../postgres/sandbox/payments.ts';
import { createSandboxRefunds } from '../../../postgres/sandbox/refunds.ts';
import { aDatabase } from '../data/database.ts';
import { returnUrl, type ProviderFixture } from './fixture.ts';
import { bothReturn, unchanged, verifyReturns } from './cases.ts';
import type { Provider } from '../../fakes/server.ts';

const start = async () => {
  const database = await aDatabase();
  const page = createSandboxPayments(database.sql);
  const refunds = createSandboxRefunds(database.sql);
  const find = async (reference: string) => {
    const found = await page.get(reference);
    if (!found) throw new Error(`The sandbox has no payment ${reference}`);
    return found;
  };
  const choose = async (
    reference: string,
    state: 'paid' | 'refused' | 'cancelled',
    refusal: FailureCode | null = null,
  ) => void (await page.choose((await find(reference)).paymentId, { state, refusal }));
  return {
    url: '',
    calls: [],
    book: new Map(),
    fail() {},
    failAll() {},
    move() {},
    back: () => ({ method: 'GET' as const, url: returnUrl }),
    stop: () => database.drop(),
    page,
    refunds,
    find,
    choose,
    pay: (reference: string) => choose(reference, 'paid'),
  } satisfies Provider & Record<string, unknown>;
};
type Sandbox = Awaited<ReturnType<typeof start>>;

const money = { amount: 1_250, currency: 'EUR' };
const paid = { state: 'paid', ...money, cardPanMasked: '502229******1234' } as const;

// Object.keys loses the type of the keys.
const refusalCases = (Object.keys(failureReasons) as FailureCode[]).map((failureCode) =>
  bothReturn<Sandbox>(
    `failed: ${failureCode}`,
    (bank, reference) => bank.choose(reference, 'refused', failureCode),
    { state: 'failed', failureCode },
  ),
);

export const sandbox: ProviderFixture<Sandbox> = {
  driver: 'sandbox',
  credentials: { sandbox: {} },
  money,
  unknown: 'SBXunknown',
  verifyWindowSeconds: null,
  start,
  cases: [
    bothReturn('waiting', () => {}, { state: 'waiting' }),
    verifyReturns('paid, not verified', (bank, reference) => bank.pay(reference), paid),
    bothReturn(
      'verified before',
      async (bank, reference) => {
        await bank.pay(reference);
        await bank.page.verify(reference);
      },
      paid,
    ),
    bothReturn('cancelled', (bank, reference) => bank.choose(reference, 'cancelled'), {
      state: 'cancelled',
    }),
    bothReturn('expired', async (bank, reference) => void (await bank.page.expire(reference)), {
      state: 'expired',
    }),
    ...refusalCases,
  ],
  wire: unchanged(
    { amount: 3_000_000_000, currency: 'IRR' },
    { amount: 500, currency: 'JPY' },
    { amount: 1_250, currency: 'USD' },
    { amount: 1_250, currency: 'KWD' },
    { amount: 999_999_999_999, currency: 'EUR' },
  ),
  rejected: [],
  guards: [
    ['a live account', 'live', {}],
    ['any credentials', 'sandbox', { secretKey: 'sk_live_secret_secret' }],
  ],
  tools: ({ page, refunds }) => ({
    sandboxPayments: page,
    sandboxRefunds: refunds,
    publicBaseUrl: 'https://pay.example',
  }),
  refunds: {
    kind: 'sandbox',
    book: ({ refunds }, reference) => refunds.list(reference),
    atDashboard: ({ refunds }, reference, amount) => refunds.makeAtDashboard(reference, amount),
    // Its plans have a test of their own.
    states: [['done', () => {}, { state: 'succeeded' }]],
    refusals: [
      [
        'nothing is left',
        async ({ refunds }, reference) =>
          void (await refunds.makeAtDashboard(reference, money.amount)),
        'already_refunded',
      ],
    ],
  },
  async entry({ find }, reference) {
    const { amount, currency, state } = await find(reference);
    return { amount, currency, verified: state === 'verified' ? 1 : 0 };
  },
};
