import { describe, expect, it } from 'vitest';
import { problemsOf, refusalOf } from '../../../support/service/answers.ts';
import { useService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
for (const driver of ['zarinpal', 'payping', 'stripe'])
  await service.addGateway({ slug: driver, driver, kind: 'live' });
const shop = (await service.anApplication({ mode: 'live' })).journey;
const create = async (fields: object) => {
  const answer = await shop.request('POST', '/api/v1/payments', { order_id: 'o-1', ...fields });
  const { status, text } = answer;
  return { status, text, fields: status === 422 ? problemsOf(answer) : [] };
};

const rials = (gateway: string, amount: number) => ({ gateway, amount, currency: 'IRR' });

describe('a create for a gateway with limits of its own', () => {
  // The limits of each gateway: test/support/gateways/conformance.ts.
  it('accepts an amount at its end', async () => {
    const { status, text } = await create(rials('zarinpal', 1_000_000_000));
    expect(status, text).toBe(201);
  });

  it.each([
    [rials('zarinpal', 3_000_000_000), 'amount', 'must be from 1000 to 1000000000 IRR minor units'],
    [rials('payping', 10_005), 'amount', 'must be a multiple of 10 IRR minor units'],
    [rials('stripe', 150_000), 'currency', 'is not taken by this gateway'],
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
    const { journey } = await service.anApplication();
    const body = { order_id: 'o-1', gateway: 'zarinpal', amount: 500, currency: 'EUR' };
    const answer = await journey.request('POST', '/api/v1/payments', body);
    expect(refusalOf(answer)).toEqual([403, 'GATEWAY_NOT_ALLOWED']);
  });
});

describe('metadata', () => {
  const everything = [
    '"10":1,"9":2,"b":3,"a":4',
    '"x":1.0,"y":1e2,"z":1E+2,"n":-0,"big":12345678901234567890,"f":0.1000',
    '"__proto__":{"a":1},"constructor":null,"toString":[]',
    ' "spaced" : [ 1 ,\t2 ] ',
    '"escaped":"\\u00e9\\/\\n","plain":"é/","emoji":"😀","joined":"\\ud83d\\ude00"',
    '"":{"":""}',
  ];
  it.each([`{${everything.join(',')}}`, '{}'])(
    '%s is returned as sent, in responses, replays and the webhook',
    async (metadata) => {
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
    },
  );
});
