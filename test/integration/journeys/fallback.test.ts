import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { createConsoleQueries } from '../../../postgres/console/queries.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { providerNames, startProviders } from '../../support/service/providers.ts';
import { refund, refundBecomes } from '../../support/service/refunds.ts';
import { useService } from '../../support/service/service.ts';
import { addStripe } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const first = await forFile(addStripe(service, 'first'));
const second = await forFile(addStripe(service, 'second'));
const providers = await forFile(startProviders(service, 'fallback-'));
const { application, journey } = await service.anApplication();
beforeAll(async () => {
  const applications = createApplications(service.sql);
  const settings = (await applications.get(application))!;
  await applications.update(application, {
    ...settings,
    defaultGateway: 'first',
    fallbackGateways: ['second'],
  });
});

/** This test's own. Other tests have more on the same service. */
const own = new Set(['first', 'second', 'sandbox', 'real', 'bare']);

/** Three failures in a row would change the order of asking. */
const firstWorks = () => journey.atGateway({ gateway: 'first' });
const queries = createConsoleQueries(service.sql);

const recordOf = async (id: string) => {
  const [row] = await service.sql<{ gateway: string; reference: string }[]>`
    select gateway, gateway_reference as reference from payments where id = ${id}`;
  return row!;
};
const list = async (query = '') => {
  const { json } = await journey.request('GET', `/api/v1/gateways${query}`);
  return (json['data'] as { slug: string; position: number | null; answers: boolean }[])
    .filter(({ slug }) => own.has(slug))
    .map(({ slug, position, answers }) => [slug, position, answers]);
};

it('a payment whose first gateway is down is opened, paid and given back at the second', async () => {
  first.fail('cut', /sessions/);
  const id = await journey.atGateway();
  const { gateway, reference } = await recordOf(id);
  expect([gateway, reference]).toEqual(['second', second.referenceOf(id)]);
  expect((await journey.get(id)).json['gateway']).toBe('second');

  second.pay(reference);
  // Its notification comes from the gateway that opened it.
  expect((await second.notify(journey, reference)).status).toBe(200);
  await until('the webhook', () => service.receiver.of(id)[0]);
  expect((await journey.get(id)).json).toMatchObject({ status: 'paid', gateway: 'second' });

  const { json } = await refund(journey, id);
  await refundBecomes(journey, String(json['refund_id']), 'succeeded');
  const movements = await service.sql<{ kind: string; gateway: string }[]>`
    select kind, gateway from movements where payment_id = ${id} order by id`;
  expect(movements).toMatchObject([
    { kind: 'payment', gateway: 'second' },
    { kind: 'refund', gateway: 'second' },
  ]);
  expect(first.book.size).toBe(0);
  const counted = await queries.countByGateway(true, new Date(0));
  expect(counted.filter((each) => ['first', 'second'].includes(each.gateway))).toEqual([
    { gateway: 'second', status: 'paid', count: 1 },
  ]);
});

it.each(providerNames)(
  '%s: an account takes the payment that one of the same provider does not open',
  async (name) => {
    const silent = await providers.addSilent(name);
    const slug = providers.slugOf(name);
    const gateways = [silent, slug];
    const { id, reference } = await providers.sent(journey, name, { gateway: undefined, gateways });
    expect(await recordOf(id)).toEqual({ gateway: slug, reference });
    await providers.of(name).pay(reference);
    await until('it is paid', async () => {
      const { headers } = await providers.comeBack(journey, name, reference);
      return headers.get('location')?.includes('status=paid');
    });
    expect(providers.entry(name, reference).charged).toBe(1);
    const asked = await service.sql`
      select gateway, result from gateway_exchanges
      where payment_id = ${id} and operation = 'open' order by id`;
    expect(asked).toEqual([
      { gateway: silent, result: 'no_answer' },
      { gateway: slug, result: 'opened' },
    ]);
  },
);

it.each(['refuses', 'answers after three seconds'])(
  'every payer reaches one page while the first gateway %s',
  async (how) => {
    await firstWorks();
    const isLate = how !== 'refuses';
    const answer = isLate ? first.hold(/sessions/) : undefined;
    const refusal = { status: 403, type: 'invalid_request_error', code: 'api_key_expired' };
    if (!isLate) first.refuse('/sessions', refusal);
    const id = await journey.atGateway();
    answer?.();
    const { gateway, reference } = await recordOf(id);
    expect([gateway, reference]).toEqual(['second', second.referenceOf(id)]);
    for (let times = 0; times < 2; times += 1)
      expect((await journey.checkout(id)).headers.get('location')).toContain(reference);
    const asked = await service.sql`
      select gateway, result, message from gateway_exchanges where payment_id = ${id} order by id`;
    expect(asked).toMatchObject([
      { gateway: 'first', result: isLate ? 'no_answer' : 'refused' },
      { gateway: 'second', result: 'opened' },
    ]);
    // One gateway alone has ten seconds.
    if (isLate) expect(asked[0]?.['message']).toContain('no response within 3 s');
  },
);

it('an opening whose answer was lost sends nobody there: its page closes unpaid', async () => {
  await firstWorks();
  first.fail('lost', /sessions/);
  const id = await journey.atGateway();
  const { gateway, reference } = await recordOf(id);
  expect([gateway, reference]).toEqual(['second', second.referenceOf(id)]);
  const forgotten = first.referenceOf(id);
  expect((await journey.checkout(id)).headers.get('location')).toContain(reference);
  expect(await first.notify(journey, forgotten, { type: 'expired' })).toMatchObject({
    status: 200,
  });
  expect((await journey.get(id)).json['status']).toBe('pending');
});

it('late money of a payment that the second opened goes back there', async () => {
  const { journey: shop } = await service.anApplication({ ordersPaidOnce: true });
  await firstWorks();
  const send = async () => {
    first.fail('cut', /sessions/);
    const id = await shop.atGateway({ order_id: 'once', gateways: ['first', 'second'] });
    return { id, ...(await recordOf(id)) };
  };
  const both = [await send(), await send()] as const;
  expect(both.map(({ gateway }) => gateway)).toEqual(['second', 'second']);
  for (const { reference } of both) second.pay(reference);
  const [one, other] = both;
  await until('it is paid', async () => (await shop.verify(one.id)).json['status'] === 'paid');
  const entryOf = ({ reference }: { reference: string }) => second.book.get(reference);
  await until('the money is back', () => entryOf(other)?.reversed === 1);
  expect(entryOf(one)?.reversed).toBe(0);
});

it('the list says what each gateway takes, in the order of asking, and which ones open payments', async () => {
  const gateways = createGateways(service.sql);
  await gateways.endSilence('first');
  expect(await list()).toEqual([
    ['first', 1, true],
    ['second', 2, true],
    ['sandbox', null, true],
  ]);
  await gateways.beginSilence('first');
  expect(await list()).toEqual([
    ['first', 1, false],
    ['second', 2, true],
    ['sandbox', null, true],
  ]);
  await gateways.endSilence('first');
  expect(await list('?currency=EUR&amount=10')).toEqual([['sandbox', null, true]]);
  await gateways.setEnabled('first', false);
  expect(await list('?currency=EUR')).toEqual([
    ['second', 2, true],
    ['sandbox', null, true],
  ]);
  await gateways.setEnabled('first', true);
  const terms = await journey.request('GET', '/api/v1/gateways?currency=EUR');
  expect((terms.json['data'] as object[])[0]).toEqual({
    slug: 'first',
    kind: 'sandbox',
    position: 1,
    currencies: [{ currency: 'EUR', min: 50, max: 99_999_999, step: 1 }],
    expires_in: { min: 60, max: 86_400 },
    refunds: { partial: true, least: 1 },
    answers: true,
  });
  for (const query of ['?amount=0', '?amount=1.5', '?currency=XXX', '?page=2'])
    expect((await journey.request('GET', `/api/v1/gateways${query}`)).status, query).toBe(422);
});

it('a test token sees sandboxes alone, and a live one every gateway', async () => {
  const real = await addStripe(service, 'real', 'live');
  onTestFinished(() => real.stop());
  const bare = { slug: 'bare', driver: 'stripe', kind: 'live', credentials: null } as const;
  await createGateways(service.sql).insert(bare);
  expect((await list()).map(([slug]) => slug)).not.toContain('real');
  const live = await service.anApplication({ mode: 'live' });
  const { json } = await live.journey.request('GET', '/api/v1/gateways');
  const listed = (json['data'] as { slug: string }[]).filter(({ slug }) => own.has(slug));
  expect(listed).toMatchObject([
    { slug: 'sandbox', kind: 'sandbox', position: 1 },
    { slug: 'first', kind: 'sandbox', position: null },
    { slug: 'real', kind: 'live', position: null },
    { slug: 'second', kind: 'sandbox', position: null },
  ]);
});
