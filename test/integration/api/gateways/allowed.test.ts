import { describe, expect, it } from 'vitest';
import { createApplications } from '../../../../postgres/applications/applications.ts';
import { createGateways } from '../../../../postgres/gateways/gateways.ts';
import { forFile } from '../../../support/for-file.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());
const [bank, test, off, own, plain] = [
  'bank-of-neighbour',
  'test-of-neighbour',
  'off-of-neighbour',
  'own-of-allowed',
  'sandbox-of-nobody',
] as const;
for (const [slug, driver, kind] of [
  [bank, 'zibal', 'live'],
  [test, 'zarinpal', 'sandbox'],
  [off, 'zibal', 'live'],
  [own, 'zarinpal', 'live'],
  [plain, 'sandbox', 'sandbox'],
] as const)
  await service.addGateway({
    slug,
    driver,
    kind,
    credentials: { merchantId: crypto.randomUUID(), merchant: 'zibal' },
  });
await createGateways(service.sql).setEnabled(off, false);

const applications = createApplications(service.sql);
const anApplication = async (settings: {
  defaultGateway?: string;
  fallbackGateways?: string[];
  allowedGateways?: string[];
}) => {
  const made = await service.anApplication({ mode: 'live', allowedGateways: [] });
  const change = async (to: typeof settings) =>
    applications.update(made.application, {
      ...(await applications.get(made.application))!,
      ...to,
    });
  await change(settings);
  const tests = await made.issue('test');
  return { ...made, change, tests };
};
type Made = Awaited<ReturnType<typeof anApplication>>;

const ask = async (token: string, method: string, path: string, body?: object, key?: string) => {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = JSON.parse(text) as Record<string, unknown>;
  const error = json['error'] as { code: string; request_id: string } | undefined;
  return { status: response.status, code: error?.code, json, text };
};
const order = { order_id: 'o-1', amount: 150_000, currency: 'IRR' };
const create = (token: string, fields: object, key?: string) =>
  ask(token, 'POST', '/api/v1/payments', { ...order, ...fields }, key);
const listed = async (token: string) => {
  const { json } = await ask(token, 'GET', '/api/v1/gateways');
  return (json['data'] as { slug: string }[]).map(({ slug }) => slug);
};

/** What a caller learns, with its own words and the number of the request left out. */
const answerWithout = ({ status, text }: { status: number; text: string }, slug: string) => [
  status,
  text.replaceAll(slug, 'SLUG').replace(/"request_id":"[^"]*"/, ''),
];

describe('a gateway of another application', () => {
  const neighbours: [way: string, slugs: readonly string[], mode: 'live' | 'tests'][] = [
    ['a live token', [bank, test, off, plain, 'sandbox'], 'live'],
    ['a test token', [bank, test, off], 'tests'],
  ];
  it.each(neighbours)('is for %s the same as one that nobody has', async (_, slugs, mode) => {
    const made = await anApplication({ defaultGateway: own });
    const token = mode === 'live' ? made.token : made.tests;
    for (const slug of slugs)
      for (const named of [
        (each: string) => ({ gateway: each }),
        (each: string) => ({ gateways: [each] }),
        (each: string) => ({ gateways: [own, each] }),
        (each: string) => ({ gateway: each, amount: 1 }),
        (each: string) => ({ gateway: each, sandbox: { outcome: 'paid' } }),
      ]) {
        const unknown = answerWithout(await create(token, named('nobody-has-it')), 'nobody-has-it');
        const answer = await create(token, named(slug));
        expect(answerWithout(answer, slug), slug).toEqual(unknown);
        expect(answer).toMatchObject({ status: 422, code: 'VALIDATION_FAILED' });
      }
    for (const slug of [bank, test, off]) {
      expect(await listed(token)).not.toContain(slug);
      expect((await create(token, { gateway: own, amount: 1 })).text).not.toContain(slug);
    }
  });

  it('is not among those that a test token may choose instead of a live one', async () => {
    const { tests } = await anApplication({ defaultGateway: own });
    const refused = await create(tests, {});
    expect(refused).toMatchObject({ status: 403, code: 'GATEWAY_NOT_ALLOWED' });
    expect(refused.text).toContain('sandbox');
    expect(refused.text).not.toContain(test);
  });
});

describe('an application may name', () => {
  const statuses = async (token: string, slugs: readonly string[]) =>
    Promise.all(slugs.map(async (slug) => (await create(token, { gateway: slug })).status));

  it('its default gateway, its fallbacks and what an admin allows, and lists these', async () => {
    const { token, change } = await anApplication({
      defaultGateway: own,
      fallbackGateways: [bank],
    });
    expect(await statuses(token, [own, bank, test, plain])).toEqual([201, 201, 422, 422]);
    expect(await listed(token)).toEqual([own, bank]);
    await change({ fallbackGateways: [], allowedGateways: [test, bank, off] });
    expect(await statuses(token, [own, bank, test, off])).toEqual([201, 201, 201, 422]);
    expect(await listed(token)).toEqual([own, bank, test]);
    expect((await create(token, { gateways: [bank, own] })).status).toBe(201);
  });

  it('with a test token each built-in sandbox, and of the others the sandboxes that it has', async () => {
    const { tests, change } = await anApplication({ defaultGateway: own });
    expect(await statuses(tests, ['sandbox', plain, test, own])).toEqual([201, 201, 422, 403]);
    expect(await listed(tests)).toEqual(expect.arrayContaining(['sandbox', plain]));
    expect(await listed(tests)).not.toContain(own);
    await change({ allowedGateways: [test, bank] });
    expect(await statuses(tests, [test, bank])).toEqual([201, 403]);
    expect(await listed(tests)).toContain(test);
  });
});

describe('after a switch to another gateway', () => {
  const paid = async ({ journey }: Made) => {
    const id = await journey.atGateway({ gateway: undefined, amount: 1_250, currency: 'EUR' });
    return id;
  };

  it('a payment that exists goes on and is given back, and its create is repeated', async () => {
    const shop = await anApplication({ defaultGateway: 'sandbox' });
    const body = { ...order, amount: 1_250, currency: 'EUR', gateway: 'sandbox' };
    const first = await create(shop.token, body, 'key-1');
    const id = await paid(shop);
    await shop.change({ defaultGateway: own });
    expect((await create(shop.token, { ...body, order_id: 'o-2' })).status).toBe(422);
    const again = await create(shop.token, body, 'key-1');
    expect([again.status, again.text]).toEqual([201, first.text]);
    await shop.journey.choose(id, 'pay');
    await shop.journey.verify(id);
    expect((await shop.journey.get(id)).json).toMatchObject({ status: 'paid', gateway: 'sandbox' });
    const refund = await ask(shop.token, 'POST', `/api/v1/payments/${id}/refunds`, {}, 'key-2');
    expect(refund.status).toBe(201);
    const url = `${service.url}/api/v1/payments/${String(first.json['payment_id'])}/checkout`;
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(302);
  });

  it('a link that exists begins payments at the new one, which names no other', async () => {
    const shop = await anApplication({ defaultGateway: 'sandbox' });
    const link = await ask(
      shop.token,
      'POST',
      '/api/v1/links',
      { order_id: 'o-3', amount: 150_000, currency: 'IRR' },
      'key-3',
    );
    expect(link.status).toBe(201);
    await shop.change({ defaultGateway: own, fallbackGateways: [bank] });
    const page = await fetch(String(link.json['url']), { method: 'POST', redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('/checkout'),
    ]);
    const [row] = await service.sql<{ gateway: string; candidates: string[] }[]>`
      select gateway, candidates from payments where link_id = ${String(link.json['link_id'])}`;
    expect(row).toEqual({ gateway: own, candidates: [own, bank] });
  });
});
