import type { FailureCode } from '../contract/failure-codes.ts';
import { startMollie } from '../test/fakes/mollie.ts';
import { startPayping } from '../test/fakes/payping.ts';
import type { newRefundBook } from '../test/fakes/refunds.ts';
import type { Entry, FakeResponse, Provider } from '../test/fakes/server.ts';
import { entryIn } from '../test/fakes/server.ts';
import { startSep } from '../test/fakes/sep.ts';
import { startStripe } from '../test/fakes/stripe.ts';
import { startVandar } from '../test/fakes/vandar.ts';
import { startZarinpal } from '../test/fakes/zarinpal.ts';
import { startZibal } from '../test/fakes/zibal.ts';
import { noticeOf, webhookSecret } from '../test/support/service/stripe-account.ts';
import { type Link, startLink } from './link.ts';
import type { Random } from './random.ts';

/** The differences between gateways that decide how a payment must end. */
interface Traits {
  /** The currency in the provider's own notation. */
  gatewayCurrency: string;
  toGatewayAmount: (amount: number) => number;
  /** The provider takes money without our verification. */
  oneStep: boolean;
  /** The statuses that a cancelled payment may end in. */
  cancelStatuses: readonly string[];
  /** A payment that we closed looks as if its payer had cancelled it, if the worker died before it was recorded. */
  closesAsCancel?: true;
  /** The failure codes of payments that must end as `failed`. */
  failureCodes: { refused: FailureCode; cancelled?: FailureCode };
  /**
   * Whether the provider reports the card's first six and last four digits. `verifying`: only in the
   * response to a verification, so that the card stays unknown if that response is lost.
   */
  reportsCard: 'always' | 'verifying' | 'never';
  /** A payer who comes back undecided has used the cancel link. */
  backIsCancel: boolean;
  /** The body and headers of the provider's signed notification about a payment, if it sends some. */
  notice?: (reference: string) => { headers: Record<string, string>; body: string };
}

interface Account extends Traits {
  /** By default the account's name. */
  driver?: string;
  /** Gateways that the application's payments at this one fall back to. The openings here fail for a while then. */
  fallbacks?: readonly string[];
  start: () => Promise<Provider>;
  credentials: object;
  currency: string;
  /** Refunds carry our id. At the others a refund whose answer is lost waits for a day, so a run has none. */
  refunds?: true;
  /** The least amount and the step between amounts, in minor units. */
  amounts: { min: number; step: number };
  /** In the provider's own notation. A provider that never learns of a cancel leaves the payment open. */
  states: { open: string; refused: string; cancelled: string | undefined };
}

const rialAccount = {
  currency: 'IRR',
  amounts: { min: 20_000, step: 10 },
  gatewayCurrency: 'IRR',
  toGatewayAmount: (amount: number) => amount,
  reportsCard: 'always',
  oneStep: false,
  backIsCancel: false,
} as const;

const zarinpal: Account = {
  ...rialAccount,
  start: startZarinpal,
  credentials: { merchantId: '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42' },
  states: { open: 'IN_BANK', refused: 'FAILED', cancelled: 'FAILED' },
  cancelStatuses: ['failed'],
  failureCodes: { refused: 'payment_not_completed', cancelled: 'payment_not_completed' },
};

const accounts: Record<string, Account> = {
  zarinpal,
  unsteady: { ...zarinpal, driver: 'zarinpal', fallbacks: ['zibal', 'payping'] },
  zibal: {
    ...rialAccount,
    start: startZibal,
    credentials: { merchant: 'zibal' },
    states: { open: '-1', refused: '5', cancelled: '3' },
    cancelStatuses: ['cancelled'],
    failureCodes: { refused: 'insufficient_funds' },
  },
  payping: {
    ...rialAccount,
    start: startPayping,
    credentials: { testToken: 'test-token-0123456789' },
    toGatewayAmount: (amount) => amount / 10,
    gatewayCurrency: 'IRT',
    reportsCard: 'verifying',
    states: { open: '0', refused: '4', cancelled: '3' },
    cancelStatuses: ['cancelled'],
    failureCodes: { refused: 'gateway_error' },
  },
  stripe: {
    start: startStripe,
    credentials: { secretKey: 'sk_test_0123456789abcdef', webhookSecrets: [webhookSecret] },
    currency: 'EUR',
    amounts: { min: 50, step: 1 },
    toGatewayAmount: (amount) => amount,
    gatewayCurrency: 'eur',
    reportsCard: 'never',
    oneStep: true,
    backIsCancel: true,
    states: {
      open: 'open unpaid',
      refused: 'complete unpaid requires_payment_method',
      cancelled: undefined,
    },
    refunds: true,
    notice: (reference) => noticeOf(reference),
    // Cancelled if the payer reaches us by the cancel link.
    cancelStatuses: ['cancelled', 'expired'],
    failureCodes: { refused: 'payment_not_completed' },
  },
  vandar: {
    ...rialAccount,
    start: startVandar,
    credentials: { apiKey: 'test' },
    states: { open: 'none', refused: '4', cancelled: '4' },
    cancelStatuses: ['failed'],
    failureCodes: { refused: 'payment_not_completed', cancelled: 'payment_not_completed' },
  },
  mollie: {
    start: startMollie,
    credentials: { apiKey: 'test_0123456789abcdef' },
    currency: 'EUR',
    amounts: { min: 50, step: 1 },
    toGatewayAmount: (amount) => amount,
    gatewayCurrency: 'EUR',
    reportsCard: 'never',
    oneStep: true,
    backIsCancel: false,
    states: { open: 'open', refused: 'failed', cancelled: 'canceled' },
    refunds: true,
    cancelStatuses: ['cancelled'],
    closesAsCancel: true,
    failureCodes: { refused: 'payment_not_completed' },
  },
  sep: {
    ...rialAccount,
    start: startSep,
    credentials: { terminalId: '2015' },
    states: { open: 'InProgress', refused: 'Failed', cancelled: 'CanceledByUser' },
    cancelStatuses: ['cancelled'],
    failureCodes: { refused: 'payment_not_completed' },
  },
};

/** ZarinPal's openings, and its answer to a merchant id that it does not accept. */
const opening = {
  path: /\/payment\/request\.json$/,
  refusal: {
    status: 401,
    body: { data: [], errors: { code: -11, message: 'The terminal is not active.' } },
  } satisfies FakeResponse,
};

/** `hang`: the provider acts, and never answers. */
export type OpeningFault = 'hang' | 'refuse';

/** The decision of a payer on the gateway's page, and the time when the gateway learned it. */
export interface Decision {
  at: number;
  decision: 'paid' | 'refused' | 'cancelled';
}

/** A fake provider behind a link that can be disturbed, and the payer on its page. */
export interface Gateway extends Traits {
  slug: string;
  driver: string;
  /** In the order of asking, behind this one. */
  fallbacks: readonly string[];
  currency: string;
  /** The state of a payment that nobody has paid, in the provider's own notation. */
  openState: string;
  link: Link;
  provider: Provider;
  /** For the account's record. */
  credentials: object;
  drawAmount(random: Random): { amount: number; currency: string };
  /**
   * Undefined when the payment is no longer open.
   * @param amount in the provider's notation, if another amount is paid than the requested one
   */
  decide(reference: string, decision: Decision['decision'], amount?: number): Decision | undefined;
  /** For the providers whose refunds a run uses: a person gives money back there. */
  refundAtDashboard?: ((reference: string, amount: number) => unknown) | undefined;
  /** The refunds in the provider's book that did not fail, in its own notation. */
  refundsOf(reference: string): { refundId: string | null; amount: number }[];
  /** The address that the provider got for reports of a payment, if it takes one. */
  reportUrl(reference: string): string | undefined;
  findDecision(reference: string): Decision | undefined;
  entriesFor(paymentId: string): [reference: string, entry: Entry][];
  /** For a gateway with fallbacks: openings fail like this until it is undefined. */
  failOpenings(fault: OpeningFault | undefined): void;
  /** @returns the number of openings that it was asked for in this time */
  countOpenings(during: { from: number; to: number }): number;
  stop(): Promise<void>;
}

export const startGateways = (): Promise<Gateway[]> =>
  Promise.all(Object.entries(accounts).map(([slug, account]) => startGateway(slug, account)));

type RefundBook = ReturnType<typeof newRefundBook>;
type Reporting = Pick<Gateway, 'reportUrl'>;

const startGateway = async (slug: string, account: Account): Promise<Gateway> => {
  const { start, credentials, currency, amounts, states, ...others } = account;
  const { driver = slug, fallbacks = [], refunds, ...traits } = others;
  const provider = await start();
  const link = await startLink(provider.url);
  const decisions = new Map<string, Decision>();
  const books: Provider & Partial<RefundBook & Reporting> = provider;
  return {
    ...traits,
    ...{ slug, driver, fallbacks, currency },
    openState: states.open,
    provider,
    link,
    credentials: { ...credentials, baseUrl: link.url },
    drawAmount: (random) => ({
      amount: amounts.min + amounts.step * Math.floor(random.between(0, 10_000)),
      currency,
    }),
    decide(reference, decision, amount) {
      const entry = entryIn(provider.book, reference);
      if (entry.state !== states.open) return undefined;
      const state = states[decision === 'paid' ? 'open' : decision];
      if (decision === 'paid') {
        entry.amount = amount ?? entry.amount;
        void provider.pay(reference);
      } else if (state !== undefined) provider.move(reference, state);
      const decided = { at: Date.now(), decision };
      decisions.set(reference, decided);
      return decided;
    },
    refundAtDashboard: refunds && books.refundAtDashboard,
    refundsOf: (reference) => books.of?.(reference) ?? [],
    reportUrl: (reference) => books.reportUrl?.(reference),
    findDecision: (reference) => decisions.get(reference),
    entriesFor: (paymentId) =>
      [...provider.book].filter(([, entry]) => entry.paymentId === paymentId),
    failOpenings(fault) {
      provider.failAll(opening.path, fault === 'hang' ? 'slow' : fault && opening.refusal);
    },
    countOpenings: ({ from, to }) =>
      provider.calls.filter(({ at, path }) => at >= from && at < to && opening.path.test(path))
        .length,
    async stop() {
      await Promise.all([link.stop(), provider.stop()]);
    },
  };
};
