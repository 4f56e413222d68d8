import Stripe from 'stripe';
import { startStripe } from '../../fakes/stripe.ts';
import type { Journey } from './journey.ts';
import type { Service } from './service.ts';

const { webhooks } = new Stripe('sk_test_0123456789abcdef');
export const webhookSecret = 'whsec_of_the_account';

export interface Notice {
  /** The event type without `checkout.session.`. */
  type?: string;
  secret?: string;
  /** The time of the signature, in Unix seconds. */
  timestamp?: number;
}

/** The notification that Stripe sends about a session, signed by Stripe's own library. */
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

/** Adds a gateway to a service, with a fake provider. On the shared service its name is that of the test's alone. */
export const addStripe = async (
  service: Pick<Service, 'addGateway'>,
  slug = 'stripe',
  mode: 'test' | 'live' = 'test',
) => {
  const provider = await startStripe({ mode });
  const credentials = {
    secretKey: `sk_${mode}_0123456789abcdef`,
    webhookSecrets: [webhookSecret],
    baseUrl: provider.url,
  };
  const kind = mode === 'live' ? 'live' : 'sandbox';
  const isNew = await service.addGateway({ slug, driver: 'stripe', kind, credentials });
  if (!isNew) throw new Error(`Another test has a gateway ${slug} on this service`);
  /** Stripe's reference of a payment. */
  const referenceOf = (id: string): string => {
    const [reference] = [...provider.book].find(([, { paymentId }]) => paymentId === id) ?? [];
    if (reference === undefined) throw new Error(`The fake Stripe has no session for ${id}`);
    return reference;
  };
  const path = `/api/v1/gateways/${slug}/notifications`;
  /** A payment whose payer was sent to Stripe's page. */
  const sent = async (journey: Journey, fields: object = {}) => {
    const id = await journey.atGateway({ gateway: slug, ...fields });
    return { id, reference: referenceOf(id) };
  };
  return {
    ...provider,
    referenceOf,
    sent,
    async paid(journey: Journey) {
      const payment = await sent(journey);
      provider.pay(payment.reference);
      await journey.verify(payment.id);
      return payment;
    },
    /** Stripe's notification about a session. */
    notify: (journey: Journey, reference: string, notice: Notice = {}) =>
      journey.call('POST', path, noticeOf(reference, notice)),
    /** Stripe's notification about another object, which is accepted. */
    async tell(journey: Journey, type: string, object: object) {
      const body = JSON.stringify({ id: 'evt_1', livemode: false, type, data: { object } });
      const answer = await journey.call('POST', path, { body, headers: signed(body) });
      if (answer.status !== 200) throw new Error(`${type}: ${answer.status} ${answer.text}`);
    },
  };
};
