import { describe, expect, it } from 'vitest';
import { paymentFields } from '../../../../contract/payment-fields.ts';
import { problemsOf, refusalOf } from '../../../support/service/answers.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
await service.addGateway({ slug: 'live-account', driver: 'stripe', kind: 'live' });

const order = { order_id: 'o-1', amount: 1250, currency: 'EUR' };
const aCaller = async (mode: 'live' | 'test' = 'test') => {
  const { application, journey } = await service.anApplication({ mode });
  const create = (body: unknown) => journey.request('POST', '/api/v1/payments', body);
  return { application, get: journey.get, create };
};

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

describe('POST /api/v1/payments', () => {
  it('returns the payment with its fields in order, and its location', async () => {
    const { application, create, get } = await aCaller();
    const answer = await create({ ...order, description: 'Two tickets', expires_in: 60 });
    expect(answer.status, answer.text).toBe(201);
    const id = String(answer.json['payment_id']);
    expect(id).toMatch(/^PAY_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    const expected = {
      ...Object.fromEntries(Object.keys(paymentFields).map((name) => [name, null])),
      payment_id: id,
      application,
      order_id: 'o-1',
      status: 'pending',
      amount: 1250,
      currency: 'EUR',
      gateway: 'sandbox',
      description: 'Two tickets',
      checkout_url: `${service.url}/api/v1/payments/${id}/checkout`,
      callback_url: 'http://127.0.0.1:9/return',
      amount_refunded: 0,
      amount_refund_pending: 0,
      amount_disputed: 0,
      refundable: 0,
      test: true,
      metadata: {},
      expires_at: expect.stringMatching(time) as string,
      created_at: expect.stringMatching(time) as string,
      updated_at: answer.json['created_at'],
    };
    expect(Object.entries(answer.json)).toEqual(Object.entries(expected));
    const lifeMs =
      Date.parse(String(answer.json['expires_at'])) - Date.parse(String(answer.json['created_at']));
    expect(lifeMs).toBe(60_000);
    expect(answer.headers.get('location')).toBe(`${service.url}/api/v1/payments/${id}`);
    expect((await get(id)).text).toBe(answer.text);
  });

  it('accepts every field at its limits, and expires after 30 minutes by default', async () => {
    const { create } = await aCaller();
    for (const fields of [
      { amount: 1 },
      { amount: 999_999_999_999, currency: 'IRR' },
      { order_id: '𝒳'.repeat(100) },
      { description: '' },
      { description: '𝒳'.repeat(255) },
      { expires_in: 86_400 },
      { callback_url: 'http://127.0.0.1:9/other?kept=1' },
      { gateway: 'sandbox' },
      {
        metadata: Object.fromEntries(
          Array.from({ length: 50 }, (_, n) => [`${n}`.padStart(40), n]),
        ),
      },
      { metadata: { ['𝒳'.repeat(40)]: 1 } },
      { metadata: { text: 'x'.repeat(8 * 1024 - '{"text":""}'.length) } },
      { metadata: { a: { b: { c: { d: 1 } } } } },
    ]) {
      const answer = await create({ ...order, ...fields });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.json).toMatchObject('expires_in' in fields ? {} : fields);
    }
    const { json } = await create(order);
    const lifeMs = Date.parse(String(json['expires_at'])) - Date.parse(String(json['created_at']));
    expect(lifeMs).toBe(1_800_000);
  });

  it('reports every problem at once', async () => {
    const { create } = await aCaller();
    const answer = await create({
      order_id: '',
      amount: '12',
      currency: 'IRT',
      callback_url: 'https://attacker.example/',
      gateway: 'nowhere',
      description: 'x'.repeat(256),
      metadata: { ['k'.repeat(41)]: { a: { b: { c: { d: {} } } } } },
      expires_in: 59,
      surprise: 1,
    });
    expect(refusalOf(answer)).toEqual([422, 'VALIDATION_FAILED']);
    const paths = problemsOf(answer).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([
      ...['amount', 'callback_url', 'currency', 'description', 'expires_in', 'gateway'],
      ...['metadata', 'metadata', 'order_id', 'surprise'],
    ]);
    for (const { message, rule } of problemsOf(answer)) {
      expect(message).toMatch(/^(must|is|has) /);
      expect(rule).toMatch(/^[a-z_]+$/);
    }
  });

  const invalid: [string, object | string][] = [
    ['currency', { currency: 'toString' }],
    ['metadata', { metadata: [null] }],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, n])) }],
    ['metadata', { metadata: { ['𝒳'.repeat(41)]: 1 } }],
    ['metadata', { metadata: { text: 'x'.repeat(8 * 1024) } }],
    // The limit counts bytes; this letter has two.
    ['metadata', { metadata: { text: 'ü'.repeat(4 * 1024) } }],
    ['metadata', { metadata: { a: { b: { c: { d: [[]] } } } } }],
    ['callback_url', { callback_url: 'http://127.0.0.1:9/return?more=1' }],
    ['test', { test: false }],
    ['status', { status: 'paid' }],
    ['__proto__', '{"order_id":"o","amount":1,"currency":"EUR","__proto__":{"amount":1}}'],
    ['constructor', { constructor: 1 }],
    ['constructor', { constructor: null }],
    ['toString', { toString: [] }],
    ['__proto__', '{"order_id":"o-1","amount":1250,"currency":"EUR","__proto__":null}'],
  ];
  const named = invalid.map(
    ([path, fields]) => [path, JSON.stringify(fields).slice(0, 60), fields] as const,
  );
  it.each(named)('names the invalid field %s in %s', async (path, _, fields) => {
    const { create } = await aCaller();
    const answer = await create(typeof fields === 'string' ? fields : { ...order, ...fields });
    expect(answer.status, answer.text).toBe(422);
    expect(problemsOf(answer).map((field) => field.path)).toEqual([path]);
  });

  it.each(['[1]', '"x"', '1', 'null', 'true'])(
    'rejects %s, which is not an object',
    async (body) => {
      const { create } = await aCaller();
      expect(problemsOf(await create(body))).toEqual([
        { path: '', rule: 'invalid_type', message: 'must be an object' },
      ]);
    },
  );

  it('rejects a disabled gateway, whose older payments continue', async () => {
    const { create } = await aCaller();
    await service.addGateway({ slug: 'closing', driver: 'sandbox', kind: 'sandbox' });
    const body = { ...order, gateway: 'closing' };
    const id = String((await create(body)).json['payment_id']);
    await service.sql`update gateways set enabled = false where slug = 'closing'`;
    expect(problemsOf(await create(body))).toMatchObject([{ path: 'gateway' }]);
    const payer = createJourney(service, '');
    expect(await payer.checkout(id)).toMatchObject({ status: 302 });
    await payer.choose(id, 'pay');
    expect((await payer.comeBack(id)).headers.get('location')).toContain('status=paid');
  });
});

describe('the mode of a token', () => {
  it('test: rejects a live gateway with 403, and names the gateways to pass', async () => {
    const { application, create } = await aCaller();
    await service.addGateway({ slug: 'a-disabled-one', driver: 'sandbox', kind: 'sandbox' });
    await service.sql`update gateways set enabled = false where slug = 'a-disabled-one'`;
    // The first of the ten that the text names: other files of this service have accounts, too.
    await service.addGateway({ slug: 'a-first-one', driver: 'sandbox', kind: 'sandbox' });
    for (const way of ['given', 'default']) {
      if (way === 'default')
        await service.sql`
          update applications set default_gateway = 'live-account' where slug = ${application}`;
      const answer = await create(way === 'given' ? { ...order, gateway: 'live-account' } : order);
      expect(answer.status, answer.text).toBe(403);
      expect(answer.json['error']).toMatchObject({
        code: 'GATEWAY_NOT_ALLOWED',
        message: expect.stringContaining('"a-first-one"') as string,
      });
      expect(answer.text).not.toContain('a-disabled-one');
    }
    expect(await create({ ...order, gateway: 'a-first-one' })).toMatchObject({ status: 201 });
  });

  it('live: creates live payments, also with a sandbox gateway', async () => {
    const { create } = await aCaller('live');
    for (const gateway of ['sandbox', 'live-account']) {
      const answer = await create({ ...order, gateway });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.json).toMatchObject({ test: false, gateway });
    }
  });
});
