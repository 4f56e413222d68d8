import Stripe from 'stripe';
import { createGateways } from '../../postgres/gateways.ts';
import { createSecretBox } from '../../postgres/secret-box.ts';
import { startStripe } from '../fakes/stripe.ts';
import type { Service } from './service.ts';

const { webhooks } = new Stripe('sk_test_0123456789abcdef');
export const webhookSecret = 'whsec_of_the_account';

export interface Notice {
  /** Of the event; without its `checkout.session.`. */
  type?: string;
  secret?: string;
  /** When it says that it was signed, in seconds. */
  timestamp?: number;
}

/** What Stripe posts of a session, signed by its own library. */
export const noticeOf = (
  reference: string,
  { type = 'completed', secret = webhookSecret, timestamp }: Notice = {},
) => {
  const body = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    livemode: false,
    type: `checkout.session.${type}`,
    data: { object: { id: reference } },
  });
  return { body, headers: signed(body, { secret, ...(timestamp && { timestamp }) }) };
};

export const signed = (
  payload: string,
  options: { secret?: string; timestamp?: number } = {},
): Record<string, string> => ({
  'content-type': 'application/json; charset=utf-8',
  'stripe-signature': webhooks.generateTestHeaderString({
    payload,
    secret: webhookSecret,
    ...options,
  }),
});

/** The gateway `stripe` of a service, and the stand-in behind it. */
export const addStripe = async ({ sql, keyRing }: Pick<Service, 'sql' | 'keyRing'>) => {
  const provider = await startStripe();
  const credentials = {
    secretKey: 'sk_test_0123456789abcdef',
    webhookSecrets: [webhookSecret],
    baseUrl: provider.url,
  };
  const sealed = createSecretBox(keyRing).seal(JSON.stringify(credentials), 'gateway:stripe');
  await createGateways(sql).insert({
    slug: 'stripe',
    driver: 'stripe',
    kind: 'sandbox',
    credentials: sealed,
  });
  return {
    ...provider,
    /** Stripe's own name for a payment. */
    referenceOf(id: string): string {
      const [reference] = [...provider.book].find(([, { paymentId }]) => paymentId === id) ?? [];
      if (reference === undefined) throw new Error(`Stripe has no session of ${id}`);
      return reference;
    },
  };
};
export type StripeAccount = Awaited<ReturnType<typeof addStripe>>;
