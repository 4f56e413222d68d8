import { describe, expect, it } from 'vitest';
import { createGateways } from '../../../postgres/gateways.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import {
  providerNames as drivers,
  providerSecrets,
  startProviders,
  type ProviderName,
} from '../../support/service/providers.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
const providers = await forFile(startProviders(service));
const journey = (await service.anApplication()).journey;

const providerOf = (driver: ProviderName) => providers.of(driver);
const sent = (driver: ProviderName) => providers.sent(journey, driver);
const comeBack = (driver: ProviderName, reference: string) =>
  providers.comeBack(journey, driver, reference);

describe('a payment through the protocol of a real gateway', () => {
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

  it.each(drivers)(
    '%s: verify answers 502 and changes nothing while the gateway does not answer',
    async (driver) => {
      const { id, reference } = await sent(driver);
      await providerOf(driver).pay(reference);
      providerOf(driver).fail('error');
      expect(await journey.verify(id)).toMatchObject({ status: 502 });
      expect((await journey.get(id)).json).toMatchObject({ status: 'pending' });
    },
  );

  it('does not block another payment of its order while its gateway does not answer', async () => {
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

  it('zarinpal: is found by the sweeper with one list, paid in time or late', async () => {
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
    await sweepNow(service.client);

    const webhook = await until('the webhook', () => service.receiver.of(paid.id)[0]);
    expect(webhook.json['status']).toBe('paid');
    const [found] = await until('the late one is found', async () => {
      const rows = await service.sql`
        select result from late_payments where payment_id = ${late.id} and result is not null`;
      return rows.length > 0 && rows;
    });
    expect(found).toEqual({ result: 'returns' });
    const calls = providerOf('zarinpal').calls.slice(before);
    expect(calls.filter(({ path }) => path.includes('unVerified'))).toHaveLength(1);
    expect(calls.filter(({ text }) => text.includes(gone.reference))).toEqual([]);
  });

  it('logs no credentials', () => {
    const logs = [...service.api.lines, ...service.worker.lines].join('\n');
    for (const secret of providerSecrets) expect(logs).not.toContain(secret);
  });
});

it('an account whose credentials change is called with the new ones from the next call on, also for open payments', async () => {
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

it('an account with wrong credentials ends a payment as merchant_configuration without a call to the provider', async () => {
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
