import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateways } from '../../../postgres/gateways.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import type { Journey } from '../../support/journey.ts';
import { createJourney } from '../../support/journey.ts';
import { operationsOn } from '../../support/operations.ts';
import type { ProviderName, Providers } from '../../support/providers.ts';
import {
  providerNames as drivers,
  providerSecrets,
  startProviders,
} from '../../support/providers.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
let journey: Journey;
let providers: Providers;
beforeAll(async () => {
  service = await startService();
  providers = await startProviders(service);
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(async () => {
  await service?.stop();
  await providers?.stop();
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

  it('FS-06: that is stuck does not stand in the way of another one of its order', async () => {
    const zarinpal = providerOf('zarinpal');
    const ofOrder = () => providers.sent(journey, 'zarinpal', { order_id: 'order-stuck' });
    const withOutcome = async ({ id, reference }: Awaited<ReturnType<typeof ofOrder>>) => {
      await comeBack('zarinpal', reference);
      return (await journey.get(id)).json['status'];
    };
    const stuck = await ofOrder();
    await zarinpal.pay(stuck.reference);
    zarinpal.fail('error', /inquiry/);
    expect(await journey.verify(stuck.id)).toMatchObject({ status: 502 });

    const another = await ofOrder();
    await zarinpal.pay(another.reference);
    expect(await withOutcome(another)).toBe('paid');
    expect((await journey.get(stuck.id)).json['status']).toBe('pending');
    expect(await withOutcome(stuck)).toBe('paid');
  });

  it('FS-05, FS-16: zarinpal: one list shows the sweep who paid, in time and late', async () => {
    const late = await sent('zarinpal');
    await skipAllTime(service.client, late.id);
    await until('it expires', () => service.receiver.of(late.id)[0]);
    const [gone, paid] = [await sent('zarinpal'), await sent('zarinpal')];
    for (const { reference } of [late, paid]) await providerOf('zarinpal').pay(reference);
    await service.sql`update payments set inquired_at = null where gateway = 'zarinpal'`;
    await service.sql`
      update payments set checkout_at = now() - interval '121 seconds'
      where id = any(${[gone.id, paid.id]})`;
    const before = providerOf('zarinpal').calls.length;
    await service.client.schedule.getHandle('sweep').trigger();

    const webhook = await until('the webhook', () => service.receiver.of(paid.id)[0]);
    expect(webhook.json['status']).toBe('paid');
    const [audited] = await until('the late one is found', async () => {
      const subject = `payment:${late.id}`;
      const rows = await service.sql`select action from audit_log where subject = ${subject}`;
      return rows.length > 0 && rows;
    });
    expect(audited).toEqual({ action: 'payment.late_payment_returns' });
    const calls = providerOf('zarinpal').calls.slice(before);
    expect(calls.filter(({ path }) => path.includes('unVerified'))).toHaveLength(1);
    expect(calls.filter(({ text }) => text.includes(gone.reference))).toEqual([]);
  });

  it('keeps credentials out of every log', () => {
    const logs = [...service.api.lines, ...service.worker.lines].join('\n');
    for (const secret of providerSecrets) expect(logs).not.toContain(secret);
  });
});

describe('an account whose credentials change', () => {
  it('is asked with the new ones from the next call on, also about payments on their way', async () => {
    const { book, calls, pay, url: baseUrl } = providerOf('stripe');
    const operations = operationsOn(service.sql, { keyRing: service.keyRing });
    const credentials = (secretKey: string) => JSON.stringify({ secretKey, baseUrl });
    const [older, newer] = ['sk_test_the_older_key', 'sk_test_the_newer_key'];
    const account = { slug: 'renewed', driver: 'stripe', kind: 'sandbox' } as const;
    await operations.gateways.add({ ...account, credentials: credentials(older) }, null);
    const id = await journey.atGateway({ gateway: 'renewed' });
    const [reference = ''] = [...book].find(([, { paymentId }]) => paymentId === id) ?? [];
    await pay(reference);
    const keys = () =>
      calls
        .filter(({ path, text }) => path.includes(reference) || text.includes(id))
        .map(({ headers }) => headers.authorization);
    expect(keys()).toEqual([`Bearer ${older}`]);

    await operations.gateways.setCredentials('renewed', credentials(newer), null);
    expect((await journey.verify(id)).json).toMatchObject({ status: 'paid' });
    expect(keys()).toEqual([`Bearer ${older}`, `Bearer ${newer}`]);
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
