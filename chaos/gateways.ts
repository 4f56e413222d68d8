import type { FailureCode } from '../contract/failure-codes.ts';
import type { Entry, Provider } from '../test/fakes/server.ts';
import { entryIn } from '../test/fakes/server.ts';
import { startPayping } from '../test/fakes/payping.ts';
import { startStripe } from '../test/fakes/stripe.ts';
import { startZarinpal } from '../test/fakes/zarinpal.ts';
import { startZibal } from '../test/fakes/zibal.ts';
import { webhookSecret } from '../test/support/stripe-account.ts';
import type { Link } from './link.ts';
import { startLink } from './link.ts';
import type { Random } from './random.ts';

interface Account {
  start: () => Promise<Provider>;
  credentials: object;
  currency: string;
  /** The currency in the provider's own words. */
  wireCurrency: string;
  /** Least amount, and what every amount is a multiple of. In minor units. */
  amounts: { min: number; step: number };
  wireOf: (amount: number) => number;
  /** Takes money by itself, without our verification. */
  oneStep: boolean;
  /** In the provider's own words; a cancel that it does not hear of leaves the payment open. */
  states: { open: string; refused: string; cancelled: string | undefined };
  /** How the service must say that the payer cancelled. */
  cancelIs: readonly string[];
  /** The failure codes of what the service must call `failed`. */
  failureOf: { refused: FailureCode; cancelled?: FailureCode };
  /**
   * Gives the first six and the last four digits of the card; `verifying`: in the answer to a
   * verification alone, so that they may be unknown where one was lost.
   */
  tellsCard: 'always' | 'verifying' | 'never';
  /** Whoever comes back undecided has come by its cancel link. */
  backIsCancel: boolean;
}

const rials = {
  ...{ currency: 'IRR', amounts: { min: 20_000, step: 10 }, wireCurrency: 'IRR' },
  tellsCard: 'always',
  ...{ oneStep: false, backIsCancel: false },
} as const;

const accounts: Record<string, Account> = {
  zarinpal: {
    ...rials,
    start: startZarinpal,
    credentials: { merchantId: '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42' },
    wireOf: (amount) => amount,
    states: { open: 'IN_BANK', refused: 'FAILED', cancelled: 'FAILED' },
    cancelIs: ['failed'],
    failureOf: { refused: 'payment_not_completed', cancelled: 'payment_not_completed' },
  },
  zibal: {
    ...rials,
    start: startZibal,
    credentials: { merchant: 'zibal' },
    wireOf: (amount) => amount,
    states: { open: '-1', refused: '5', cancelled: '3' },
    cancelIs: ['cancelled'],
    failureOf: { refused: 'insufficient_funds' },
  },
  payping: {
    ...rials,
    start: startPayping,
    credentials: { testToken: 'test-token-0123456789' },
    wireOf: (amount) => amount / 10,
    wireCurrency: 'IRT',
    tellsCard: 'verifying',
    states: { open: '0', refused: '4', cancelled: '3' },
    cancelIs: ['cancelled'],
    failureOf: { refused: 'gateway_error' },
  },
  stripe: {
    start: startStripe,
    credentials: { secretKey: 'sk_test_0123456789abcdef', webhookSecrets: [webhookSecret] },
    currency: 'EUR',
    amounts: { min: 50, step: 1 },
    wireOf: (amount) => amount,
    wireCurrency: 'eur',
    tellsCard: 'never',
    oneStep: true,
    backIsCancel: true,
    states: {
      open: 'open unpaid',
      refused: 'complete unpaid requires_payment_method',
      cancelled: undefined,
    },
    // By its cancel link, where the payer gets through to us with it.
    cancelIs: ['cancelled', 'expired'],
    failureOf: { refused: 'payment_not_completed' },
  },
};

/** What a payer decided at the gateway, and when the gateway knew. */
export interface Decision {
  at: number;
  what: 'paid' | 'refused' | 'cancelled';
}

/** A stand-in provider at the end of a wire that can be cut, with the payer before its page. */
export interface Gateway extends Omit<
  Account,
  'start' | 'credentials' | 'currency' | 'amounts' | 'states'
> {
  slug: string;
  link: Link;
  provider: Provider;
  /** For the account's record. */
  credentials: object;
  anAmount(random: Random): { amount: number; currency: string };
  /** Undefined where it is not open any more. `askFor`: another amount than it was told, on the wire. */
  decide(reference: string, what: Decision['what'], askFor?: number): Decision | undefined;
  decisionOn(reference: string): Decision | undefined;
  entriesOf(paymentId: string): [reference: string, entry: Entry][];
  stop(): Promise<void>;
}

export const startGateways = (): Promise<Gateway[]> =>
  Promise.all(Object.entries(accounts).map(([slug, account]) => startGateway(slug, account)));

const startGateway = async (slug: string, account: Account): Promise<Gateway> => {
  const { start, credentials, currency, amounts, states, ...terms } = account;
  const provider = await start();
  const link = await startLink(provider.url);
  const decisions = new Map<string, Decision>();
  return {
    ...{ ...terms, slug, provider, link },
    credentials: { ...credentials, baseUrl: link.url },
    anAmount: (random) => ({
      amount: amounts.min + amounts.step * Math.floor(random.between(0, 10_000)),
      currency,
    }),
    decide(reference, what, askFor) {
      const entry = entryIn(provider.book, reference);
      if (entry.state !== states.open) return undefined;
      const state = states[what === 'paid' ? 'open' : what];
      if (what === 'paid') {
        entry.amount = askFor ?? entry.amount;
        void provider.pay(reference);
      } else if (state !== undefined) provider.move(reference, state);
      const decision = { at: Date.now(), what };
      decisions.set(reference, decision);
      return decision;
    },
    decisionOn: (reference) => decisions.get(reference),
    entriesOf: (paymentId) =>
      [...provider.book].filter(([, entry]) => entry.paymentId === paymentId),
    async stop() {
      await Promise.all([link.stop(), provider.stop()]);
    },
  };
};
