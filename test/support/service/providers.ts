import { expect } from 'vitest';
import { startMollie } from '../../fakes/mollie.ts';
import { startPayping } from '../../fakes/payping.ts';
import type { Money } from '../../../gateways/amount.ts';
import type { Entry, Provider } from '../../fakes/server.ts';
import { startSep } from '../../fakes/sep.ts';
import { startStripe } from '../../fakes/stripe.ts';
import { startVandar } from '../../fakes/vandar.ts';
import { startZarinpal } from '../../fakes/zarinpal.ts';
import { startZibal } from '../../fakes/zibal.ts';
import type { Journey } from './journey.ts';
import type { Service } from './service.ts';

interface ProviderAccount {
  start: () => Promise<Provider>;
  credentials: object;
  /** Of a payment. The default is that of `journey.create`. */
  money?: Money;
  /** False: it never reports the digits of a card. */
  reportsCard?: false;
}

const rials: Money = { amount: 150_000, currency: 'IRR' };

const accounts = {
  zarinpal: {
    start: startZarinpal,
    credentials: { merchantId: '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42' },
    money: rials,
  },
  zibal: { start: startZibal, credentials: { merchant: 'zibal' }, money: rials },
  payping: {
    start: startPayping,
    credentials: { testToken: 'test-token-0123456789' },
    money: rials,
  },
  stripe: {
    start: startStripe,
    credentials: {
      secretKey: 'sk_test_0123456789abcdef',
      webhookSecrets: ['whsec_0123456789abcdef'],
    },
    reportsCard: false,
  },
  vandar: { start: startVandar, credentials: { apiKey: 'test' }, money: rials },
  mollie: {
    start: startMollie,
    credentials: { apiKey: 'test_0123456789abcdef', accessToken: 'access_0123456789abcdef' },
    reportsCard: false,
  },
  sep: { start: startSep, credentials: { terminalId: '2015' }, money: rials },
} satisfies Record<string, ProviderAccount>;

export type ProviderName = keyof typeof accounts;
export const providerNames = Object.keys(accounts) as ProviderName[];
const accountOf = (name: ProviderName): ProviderAccount => accounts[name];
export const reportsCard = (name: ProviderName): boolean => accountOf(name).reportsCard ?? true;

const textsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsIn);

/** The secrets in the credentials. What is as short as Zibal's sandbox merchant is not one. */
export const providerSecrets = Object.values(accounts)
  .flatMap(({ credentials }) => textsIn(credentials))
  .filter((text) => text.length > 8);

/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:9';

/**
 * Starts the fake providers, each with a gateway in the service.
 * @param prefix of the gateways' names, which are those of the providers. The shared service needs one
 */
export const startProviders = async (service: Pick<Service, 'addGateway'>, prefix = '') => {
  const providers = new Map<ProviderName, Provider>();
  const slugOf = (name: ProviderName) => `${prefix}${name}`;
  const add = (name: ProviderName, slug: string, baseUrl: string) => {
    const credentials = { ...accountOf(name).credentials, baseUrl };
    return service.addGateway({ slug, driver: name, kind: 'sandbox', credentials });
  };
  for (const name of providerNames) {
    const provider = await accountOf(name).start();
    providers.set(name, provider);
    await add(name, slugOf(name), provider.url);
  }
  const of = (name: ProviderName): Provider => providers.get(name)!; // The loop has started all of them.

  return {
    of,
    slugOf,
    entry: (name: ProviderName, reference: string): Entry => of(name).book.get(reference)!,

    /** Adds one more account, which answers nothing. @returns the name of its gateway */
    async addSilent(name: ProviderName): Promise<string> {
      const slug = `${slugOf(name)}-silent`;
      await add(name, slug, nowhere);
      return slug;
    },

    /** Creates a payment and sends the payer to the provider's page. */
    async sent(journey: Journey, name: ProviderName, fields: Record<string, unknown> = {}) {
      const { money } = accountOf(name);
      const id = await journey.create({ gateway: slugOf(name), ...money, ...fields });
      const response = await journey.checkout(id);
      expect(response.status, response.text).toBe(302);
      const [reference = ''] =
        [...of(name).book].find(([, { paymentId }]) => paymentId === id) ?? [];
      expect(response.headers.get('location')).toContain(reference);
      return { id, reference };
    },

    /** The payer returns in the way of this provider, to the API of the journey. */
    comeBack(journey: Journey, name: ProviderName, reference: string) {
      const { method, url, fields } = of(name).back(reference);
      const { pathname, search } = new URL(url);
      const init = fields ? { body: new URLSearchParams(fields) } : {};
      return journey.call(method, `${pathname}${search}`, init);
    },

    stop: () => Promise.all([...providers.values()].map((provider) => provider.stop())),
  };
};
