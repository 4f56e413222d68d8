import type { FailureCode } from '../../../contract/failure-codes.ts';
import { failureReasons } from '../../../contract/failure-codes.ts';
import { createSandboxPayments } from '../../../postgres/sandbox-payments.ts';
import { aDatabase } from '../database.ts';
import type { Scene, Subject } from './subject.ts';
import { returnUrl } from './subject.ts';
import type { Provider } from '../../fakes/server.ts';

const start = async () => {
  const database = await aDatabase();
  const page = createSandboxPayments(database.sql);
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
    move() {},
    back: () => ({ method: 'GET' as const, url: returnUrl }),
    stop: () => database.drop(),
    page,
    find,
    choose,
    pay: (reference: string) => choose(reference, 'paid'),
  } satisfies Provider & Record<string, unknown>;
};
type Sandbox = Awaited<ReturnType<typeof start>>;

const money = { amount: 1_250, currency: 'EUR' };
const paid = { state: 'paid', ...money, cardPanMasked: '502229******1234' } as const;

const refusalScenes = Object.keys(failureReasons).map((code): Scene<Sandbox> => {
  const failureCode = code as FailureCode; // Its keys, which Object.keys forgets.
  const failed = { state: 'failed', failureCode } as const;
  const play = (bank: Sandbox, reference: string) => bank.choose(reference, 'refused', failureCode);
  return { what: `failed: ${code}`, play, inquire: failed, verify: failed };
});

export const sandbox: Subject<Sandbox> = {
  driver: 'sandbox',
  credentials: { sandbox: {} },
  money,
  unknown: 'SBXunknown',
  verifyWindowSeconds: null,
  start,
  scenes: [
    { what: 'waiting', play() {}, inquire: { state: 'waiting' }, verify: { state: 'waiting' } },
    {
      what: 'paid, to be verified',
      play: (bank, reference) => bank.pay(reference),
      inquire: { state: 'processing' },
      verify: paid,
    },
    {
      what: 'verified already',
      async play(bank, reference) {
        await bank.pay(reference);
        await bank.page.verify(reference);
      },
      inquire: paid,
      verify: paid,
    },
    {
      what: 'cancelled',
      play: (bank, reference) => bank.choose(reference, 'cancelled'),
      inquire: { state: 'cancelled' },
      verify: { state: 'cancelled' },
    },
    {
      what: 'expired',
      play: async (bank, reference) => void (await bank.page.expire(reference)),
      inquire: { state: 'expired' },
      verify: { state: 'expired' },
    },
    ...refusalScenes,
  ],
  wire: [
    { amount: 3_000_000_000, currency: 'IRR' },
    { amount: 500, currency: 'JPY' },
    { amount: 1_250, currency: 'USD' },
    { amount: 1_250, currency: 'KWD' },
    { amount: 999_999_999_999, currency: 'EUR' },
  ].map((each) => [each, each]),
  refused: [],
  guards: [
    ['play money in a live account', 'live', {}],
    ['credentials, of which it has none', 'sandbox', { secretKey: 'sk_live_secret_secret' }],
  ],
  tools: ({ page }) => ({ sandboxPayments: page, publicBaseUrl: 'https://pay.example' }),
  async entry({ find }, reference) {
    const { amount, currency, state } = await find(reference);
    return { amount, currency, verified: state === 'verified' ? 1 : 0 };
  },
};
