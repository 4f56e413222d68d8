import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateways } from '../../postgres/gateways.ts';
import { createSecretBox } from '../../postgres/secret-box.ts';
import { startPayping } from '../gateways/stand-ins/payping.ts';
import type { Provider } from '../gateways/stand-ins/server.ts';
import { startStripe } from '../gateways/stand-ins/stripe.ts';
import { startZarinpal } from '../gateways/stand-ins/zarinpal.ts';
import { startZibal } from '../gateways/stand-ins/zibal.ts';
import type { Journey } from '../support/journey.ts';
import { createJourney } from '../support/journey.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';

const merchantId = '0b8a7e1c-6c1d-4a53-9f5e-2f6a1c9d7e42';
const accounts: Record<string, { start: () => Promise<Provider>; credentials: object }> = {
  zarinpal: { start: startZarinpal, credentials: { merchantId } },
  zibal: { start: startZibal, credentials: { merchant: 'zibal' } },
  payping: { start: startPayping, credentials: { testToken: 'test-token-0123456789' } },
  stripe: { start: startStripe, credentials: { secretKey: 'sk_test_0123456789abcdef' } },
};
const drivers = Object.keys(accounts);

let service: Service;
let journey: Journey;
const providers = new Map<string, Provider>();
beforeAll(async () => {
  service = await startService();
  const box = createSecretBox(service.keyRing);
  for (const [slug, { start, credentials }] of Object.entries(accounts)) {
    const provider = await start();
    providers.set(slug, provider);
    const whole = JSON.stringify({ ...credentials, baseUrl: provider.url });
    await createGateways(service.sql).insert({
      slug,
      driver: slug,
      kind: 'sandbox',
      credentials: box.seal(whole, `gateway:${slug}`),
    });
  }
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(async () => {
  await service.stop();
  await Promise.all([...providers.values()].map((provider) => provider.stop()));
});

const providerOf = (driver: string): Provider => providers.get(driver)!;

/** Created, and the payer was sent to the provider's page. */
const sent = async (driver: string) => {
  const money = driver === 'stripe' ? {} : { amount: 150_000, currency: 'IRR' };
  const id = await journey.create({ gateway: driver, ...money });
  const answer = await journey.checkout(id);
  expect(answer.status, answer.text).toBe(302);
  const [reference] =
    [...providerOf(driver).book].find(([, { paymentId }]) => paymentId === id) ?? [];
  expect(answer.headers.get('location')).toContain(reference);
  return { id, reference: reference ?? '' };
};

const comeBack = (driver: string, reference: string) => {
  const { method, url, fields } = providerOf(driver).back(reference);
  return journey.call(method, url, fields ? { body: new URLSearchParams(fields) } : {});
};

describe('a payment through a real gateway’s protocol', () => {
  it.each(drivers)('%s: is paid when the payer comes back', async (driver) => {
    const { id, reference } = await sent(driver);
    await providerOf(driver).pay(reference);
    const back = await comeBack(driver, reference);
    expect(back.status, back.text).toBe(303);
    expect(back.headers.get('location')).toContain('status=paid');

    const { json } = await journey.get(id);
    const entry = providerOf(driver).book.get(reference);
    expect(json).toMatchObject({
      status: 'paid',
      tracking_code: entry?.trackingCode,
      card_pan_masked: driver === 'stripe' ? null : '502229******1234',
    });
    expect(entry).toMatchObject({ charged: 1, verified: driver === 'stripe' ? 0 : 1, reversed: 0 });
  });

  it.each(drivers)('FS-05: %s: is found paid by a verify, without a return', async (driver) => {
    const { id, reference } = await sent(driver);
    await providerOf(driver).pay(reference);
    expect((await journey.verify(id)).json).toMatchObject({ status: 'paid' });
  });

  it.each(drivers)(
    'FS-07: %s: 502, and nothing has happened, while it is silent',
    async (driver) => {
      const { id, reference } = await sent(driver);
      await providerOf(driver).pay(reference);
      providerOf(driver).fail('error');
      expect(await journey.verify(id)).toMatchObject({ status: 502 });
      expect((await journey.get(id)).json).toMatchObject({ status: 'pending' });
    },
  );

  it('keeps credentials out of every log', () => {
    const logs = [...service.api.lines, ...service.worker.lines].join('\n');
    for (const secret of [merchantId, 'test-token-0123456789', 'sk_test_0123456789abcdef'])
      expect(logs).not.toContain(secret);
  });
});

describe('an account that is not set up rightly', () => {
  it('is merchant_configuration, without a call to the provider', async () => {
    const before = providerOf('stripe').calls.length;
    await createGateways(service.sql).insert({
      slug: 'wrong',
      driver: 'stripe',
      kind: 'sandbox',
      credentials: createSecretBox(service.keyRing).seal(
        JSON.stringify({ secretKey: 'sk_live_0123', baseUrl: providerOf('stripe').url }),
        'gateway:wrong',
      ),
    });
    const id = await journey.create({ gateway: 'wrong' });
    const answer = await journey.checkout(id);
    expect(answer.headers.get('location')).toContain('status=failed');
    expect((await journey.get(id)).json).toMatchObject({ failure_code: 'merchant_configuration' });
    expect(providerOf('stripe').calls.length).toBe(before);
  });
});
