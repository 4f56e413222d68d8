import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateways } from '../../postgres/gateways.ts';
import { createSecretBox } from '../../postgres/secret-box.ts';
import type { Journey } from '../support/journey.ts';
import { createJourney } from '../support/journey.ts';
import type { ProviderName, Providers } from '../support/providers.ts';
import { providerNames as drivers, providerSecrets, startProviders } from '../support/providers.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';

let service: Service;
let journey: Journey;
let providers: Providers;
beforeAll(async () => {
  service = await startService();
  providers = await startProviders(service);
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(async () => {
  await service.stop();
  await providers.stop();
});

const providerOf = (driver: ProviderName) => providers.of(driver);
const sent = (driver: ProviderName) => providers.sent(journey, driver);
const comeBack = (driver: ProviderName, reference: string) =>
  providers.comeBack(journey, driver, reference);

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
    for (const secret of providerSecrets) expect(logs).not.toContain(secret);
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
