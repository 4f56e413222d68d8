import { describe, expect, it } from 'vitest';
import { createGateways } from '../../../../postgres/gateways.ts';
import { useService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
for (const driver of ['zarinpal', 'zibal', 'payping', 'stripe'])
  await createGateways(service.sql).insert({
    slug: driver,
    driver,
    kind: 'live',
    credentials: null,
  });
const shop = (await service.anApplication({ mode: 'live' })).journey;
const create = async (fields: object) => {
  const answer = await shop.request('POST', '/api/v1/payments', { order_id: 'o-1', ...fields });
  const error = answer.json['error'] as { details?: { fields: unknown } } | undefined;
  return { status: answer.status, text: answer.text, fields: error?.details?.fields };
};

const rials = (gateway: string, amount: number) => ({ gateway, amount, currency: 'IRR' });

describe('a create for a gateway with limits of its own', () => {
  it.each([
    rials('zarinpal', 1_000_000_000),
    rials('zibal', 1_001),
    rials('zibal', 3_000_000_000),
    rials('payping', 500_000_000),
    { gateway: 'stripe', amount: 50, currency: 'USD' },
    { gateway: 'stripe', amount: 1_250, currency: 'KWD' },
    { gateway: 'sandbox', amount: 999_999_999_999, currency: 'KWD' },
  ])('accepts %o', async (fields) => {
    const { status, text } = await create(fields);
    expect(status, text).toBe(201);
  });

  it.each([
    [rials('zarinpal', 3_000_000_000), 'amount', 'must be from 1000 to 1000000000 IRR minor units'],
    [rials('zibal', 1_000), 'amount', 'must be from 1001 to 999999999999 IRR minor units'],
    [rials('payping', 500_000_010), 'amount', 'must be from 10000 to 500000000 IRR minor units'],
    [rials('payping', 10_005), 'amount', 'must be a multiple of 10 IRR minor units'],
    [rials('stripe', 150_000), 'currency', 'is not taken by this gateway'],
    [{ ...rials('zarinpal', 500), currency: 'EUR' }, 'currency', 'is not taken by this gateway'],
    [{ gateway: 'stripe', amount: 49, currency: 'USD' }, 'amount', 'must be from 50 to 99999999'],
    [{ gateway: 'stripe', amount: 1_255, currency: 'KWD' }, 'amount', 'must be a multiple of 10'],
  ])('rejects %o', async (given, path, message) => {
    const { status, fields } = await create(given);
    expect(status).toBe(422);
    expect(fields).toEqual([
      {
        path,
        rule: expect.stringMatching(/^gateway_/) as string,
        message: expect.stringContaining(message) as string,
      },
    ]);
  });

  it('reports these limits together with the other problems', async () => {
    const { status, fields } = await create({
      ...rials('zarinpal', 3_000_000_000),
      callback_url: 'https://elsewhere.example',
    });
    expect(status).toBe(422);
    expect(fields).toMatchObject([{ path: 'callback_url' }, { path: 'amount' }]);
    const unnamed = await create({ ...rials('zarinpal', 3_000_000_000), order_id: '' });
    expect(unnamed.fields).toMatchObject([{ path: 'order_id' }, { path: 'amount' }]);
  });

  it('does not tell the limits to a test token, which may not use the gateway', async () => {
    const {
      journey: { request },
    } = await service.anApplication();
    const body = { order_id: 'o-1', gateway: 'zarinpal', amount: 500, currency: 'EUR' };
    const answer = await request('POST', '/api/v1/payments', body);
    expect(answer.json['error']).toMatchObject({ code: 'GATEWAY_NOT_ALLOWED' });
  });
});

describe('metadata', () => {
  it.each([
    '{"10":1,"9":2,"b":3,"a":4}',
    '{"x":1.0,"y":1e2,"z":1E+2,"n":-0,"big":12345678901234567890,"f":0.1000}',
    '{"__proto__":{"a":1},"constructor":null,"toString":[]}',
    '{ "spaced" : [ 1 ,\t2 ] }',
    '{"escaped":"\\u00e9\\/\\n","plain":"é/","emoji":"😀","joined":"\\ud83d\\ude00"}',
    '{"":{"":""}}',
    '{}',
  ])('%s is returned as sent, in responses, replays and the webhook', async (metadata) => {
    const { journey } = await service.anApplication();
    const body = `{"metadata":${metadata},"order_id":"o","amount":5,"currency":"EUR"}`;
    const key = { 'idempotency-key': 'k' };
    const created = await journey.request('POST', '/api/v1/payments', body, key);
    expect(created.text).toContain(`"metadata":${metadata},"expires_at":`);
    const replayed = await journey.request('POST', '/api/v1/payments', body, key);
    expect(replayed.text).toBe(created.text);

    const id = String(created.json['payment_id']);
    await journey.checkout(id);
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    expect((await journey.get(id)).text).toContain(`"metadata":${metadata},"expires_at":`);
    expect((await journey.verify(id)).text).toContain(`"metadata":${metadata},"expires_at":`);
    const webhook = await until('the webhook arrives', () => service.receiver.of(id)[0]);
    expect(webhook.body.toString()).toMatch(/"status":"paid"/);
    expect(webhook.body.toString().endsWith(`"metadata":${metadata}}`)).toBe(true);
  });

  it('is an empty object by default', async () => {
    const { journey } = await service.anApplication();
    expect((await journey.get(await journey.create())).text).toContain('"metadata":{},');
  });
});
