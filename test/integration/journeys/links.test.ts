import { expect, it } from 'vitest';
import { linkEventId } from '../../../contract/ids.ts';
import { defaultTokenScopes } from '../../../contract/token.ts';
import type { Journey } from '../../support/service/journey.ts';
import { answered, createJourney } from '../../support/service/journey.ts';
import { aLink as linkOf, finishTry } from '../../support/service/links.ts';
import { useService } from '../../support/service/service.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());

const { anApplication } = service;

const aLink = (journey: Journey, fields?: Record<string, unknown>) =>
  linkOf(service, journey, fields);

const eventOf = (id: string) =>
  until('the event of the link', () =>
    service.receiver.all.find(({ json }) => json['event_id'] === linkEventId(id)),
  );

it('nothing is there before a payer begins, however often the page is opened', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey, { description: 'Two <b>tickets</b>', locale: 'de' });
  for (const method of ['GET', 'HEAD', 'GET'])
    expect((await journey.call(method, link.path)).status).toBe(200);
  const { text } = await link.open();
  expect(text).toContain('lang="de"');
  expect(text).toContain('Two &lt;b&gt;tickets&lt;/b&gt;');
  expect(text).toContain('<svg');
  expect(await link.tries()).toEqual([]);
  expect(await link.read()).toMatchObject({ status: 'open', payment_id: null });
});

it('a payer pays: the payment has the link, and the application gets two events', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey);
  const id = (await link.begin()) ?? '';
  const location = await finishTry(journey, id, 'pay');
  expect(location).toContain(`${link.path}?payment_id=${id}`);
  expect((await journey.get(id)).json).toMatchObject({ status: 'paid', link_id: link.id });
  const paid = await until('it is paid', async () => {
    const read = await link.read();
    return read['status'] === 'paid' && read;
  });
  expect(paid).toMatchObject({ payment_id: id, paid_at: expect.any(String) });
  expect((await link.open()).text).toContain('This is paid');
  expect(await link.begin()).toBeUndefined();
  const events = await until('both events', async () => {
    const { json } = await journey.request(
      'GET',
      `/api/v1/events?payment_id=${id}&include=payload`,
    );
    const data = json['data'] as Record<string, unknown>[];
    return data.length === 2 && data;
  });
  const byKind = Object.fromEntries(events.map((event) => [event['event'], event]));
  expect(byKind['payment.paid']).toMatchObject({ payload: { link_id: link.id } });
  expect(byKind['link.paid']).toMatchObject({
    event_id: linkEventId(link.id),
    payload: { link_id: link.id, payment_id: id, status: 'paid', amount: 1250 },
  });
  const delivered = await until('it is delivered', () =>
    service.receiver.of(id).find(({ json }) => json['event'] === 'link.paid'),
  );
  expect(delivered.json).toMatchObject({ link_id: link.id });
});

it('a try that fails, is cancelled or has expired leaves the link open', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey);
  const first = (await link.begin()) ?? '';
  await finishTry(journey, first, 'refuse');
  expect((await link.open()).text).toContain('Pay now');
  const second = (await link.begin()) ?? '';
  expect(second).not.toBe(first);
  await finishTry(journey, second, 'cancel');
  const third = (await link.begin()) ?? '';
  await finishTry(journey, third, 'pay');
  await until('it is paid', async () => (await link.read())['payment_id'] === third);
});

it('of many payers at once all get the one payment that is open', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey);
  const begun = await Promise.all(Array.from({ length: 8 }, () => link.begin()));
  expect(new Set(begun).size).toBe(1);
  expect(await link.tries()).toHaveLength(1);
  expect((await link.open()).text).toContain('Somebody has begun to pay');
});

it('a link that is disabled while a payer pays is paid, and another one begins nothing', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey);
  const id = (await link.begin()) ?? '';
  expect((await link.disable()).json).toMatchObject({ status: 'disabled' });
  expect((await link.open()).text).toContain('Nobody can pay with this link any more');
  expect(await link.begin()).toBeUndefined();
  await finishTry(journey, id, 'pay');
  await until('it is paid', async () => (await link.read())['status'] === 'paid');
  expect((await link.disable()).json).toMatchObject({ status: 'paid' });
});

it('a link that nobody has paid in time expires once, and its event names no payment', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey);
  await service.sql`update links set expires_at = now() - interval '1 minute' where id = ${link.id}`;
  expect((await link.open()).text).toContain('The time to pay with this link is over');
  expect(await link.begin()).toBeUndefined();
  for (let times = 0; times < 2; times += 1) await sweepNow(service.client);
  await until('it has expired', async () => (await link.read())['status'] === 'expired');
  const { json } = await eventOf(link.id);
  expect(json).toMatchObject({
    ...{ event: 'link.expired', link_id: link.id, status: 'expired' },
    ...{ order_id: link.json['order_id'], amount: 1250, failure_code: null, metadata: {} },
  });
  const found = await journey.request('GET', `/api/v1/events/${linkEventId(link.id)}`);
  expect(found.json).toMatchObject({ payment_id: json['payment_id'], event: 'link.expired' });
  expect((await journey.get(String(json['payment_id']))).status).toBe(404);
});

it('a link whose time ends while somebody pays is paid', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey);
  const id = (await link.begin()) ?? '';
  await answered(() => journey.checkout(id));
  await service.sql`update links set expires_at = now() - interval '1 minute' where id = ${link.id}`;
  await sweepNow(service.client);
  expect(await link.read()).toMatchObject({ status: 'open' });
  await finishTry(journey, id, 'pay');
  await until('it is paid', async () => (await link.read())['status'] === 'paid');
});

it('makes one link for a key, and refuses another request with it', async () => {
  const { journey } = await anApplication();
  const body = { order_id: 'keyed', amount: 1250, currency: 'EUR' };
  const send = (fields: object) =>
    journey.request('POST', '/api/v1/links', { ...body, ...fields }, { 'idempotency-key': 'k-1' });
  const [one, two] = await Promise.all([send({}), send({})]);
  expect(two.text).toBe(one.text);
  await journey.request('POST', `/api/v1/links/${String(one.json['link_id'])}/disable`);
  expect((await send({})).text).toBe(one.text);
  expect((await send({ amount: 1 })).json['error']).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
});

it('refuses what no gateway takes, and shows a link to its own application alone', async () => {
  const { journey } = await anApplication();
  const { journey: other } = await anApplication();
  const { issue } = await anApplication();
  const unscoped = createJourney(service, await issue('test', defaultTokenScopes));
  for (const [fields, path] of [
    [{ amount: 0 }, 'amount'],
    [{ currency: 'XXX' }, 'currency'],
    [{ expires_in: 10 }, 'expires_in'],
    [{ locale: 'fr' }, 'locale'],
    [{ callback_url: 'https://x.example' }, 'callback_url'],
  ] as const) {
    const refused = await journey.request('POST', '/api/v1/links', {
      ...{ order_id: 'o', amount: 1250, currency: 'EUR' },
      ...fields,
    });
    expect(refused.status, refused.text).toBe(422);
    expect(refused.text).toContain(path);
  }
  const link = await aLink(journey);
  for (const [method, path] of [
    ['GET', `/api/v1/links/${link.id}`],
    ['POST', `/api/v1/links/${link.id}/disable`],
  ] as const)
    expect((await other.request(method, path)).status).toBe(404);
  expect((await unscoped.request('POST', '/api/v1/links', {})).status).toBe(403);
  expect((await other.request('GET', '/api/v1/links')).json['data']).toEqual([]);
  const mine = await journey.request('GET', '/api/v1/links?status=open');
  expect(mine.json['data']).toMatchObject([{ link_id: link.id }]);
  expect((await journey.call('GET', `/api/v1/links/LNK_${'0'.repeat(26)}/pay`)).status).toBe(404);
  expect((await journey.call('POST', `/api/v1/links/LNK_${'0'.repeat(26)}/pay`)).status).toBe(404);
});

it('an order that something else has paid is paid, also where orders may be paid twice', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey, { order_id: 'elsewhere' });
  const id = (await link.begin()) ?? '';
  await answered(() => journey.checkout(id));
  const own = await journey.create({ order_id: 'elsewhere' });
  await finishTry(journey, own, 'pay');
  expect((await link.open()).text).toContain('This is paid');
  await finishTry(journey, id, 'pay');
  expect((await journey.get(id)).json).toMatchObject({
    status: 'failed',
    failure_code: 'order_already_paid',
  });
});

it('makes no link with a test token whose application has a live account alone', async () => {
  const { journey, application } = await anApplication();
  await service.sql`
    insert into gateways (slug, driver, kind) values ('live-of-links', 'stripe', 'live')`;
  await service.sql`
    update applications set default_gateway = 'live-of-links' where slug = ${application}`;
  const body = { order_id: 'o', amount: 1250, currency: 'EUR' };
  const refused = await journey.request('POST', '/api/v1/links', body);
  expect(refused.status, refused.text).toBe(403);
  expect(refused.json['error']).toMatchObject({ code: 'GATEWAY_NOT_ALLOWED' });
});

it('a browser that opens pages ahead of its person neither sees nor begins one', async () => {
  const { journey } = await anApplication();
  const link = await aLink(journey);
  const headers = { 'sec-purpose': 'prefetch' };
  for (const method of ['GET', 'POST'])
    expect((await journey.call(method, link.path, { headers })).status).toBe(429);
  expect(await link.tries()).toEqual([]);
});
