import { describe, expect, it } from 'vitest';
import { createApplications } from '../../../../postgres/applications/applications.ts';
import { createGateways } from '../../../../postgres/gateways/gateways.ts';
import { forFile } from '../../../support/for-file.ts';
import { type errorOf, refusalOf } from '../../../support/service/answers.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());
const [zarinpal, zibal, payping, disabled, test] = [
  'zarinpal-of-several',
  'zibal-of-several',
  'payping-of-several',
  'disabled-of-several',
  'test-of-several',
];
for (const [slug, driver, kind] of [
  [zarinpal, 'zarinpal', 'live'],
  [zibal, 'zibal', 'live'],
  [payping, 'payping', 'live'],
  [disabled, 'zibal', 'live'],
  [test, 'sandbox', 'sandbox'],
] as const)
  await service.addGateway({ slug, driver, kind });
await createGateways(service.sql).setEnabled(disabled, false);

const { application, journey: shop } = await service.anApplication({ mode: 'live' });
const create = async (fields: object, { request } = shop, key?: string) => {
  const body = { order_id: 'o-1', amount: 150_000, currency: 'IRR', ...fields };
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await request('POST', '/api/v1/payments', body, headers);
  const { details } = (answer.json['error'] ?? {}) as Partial<ReturnType<typeof errorOf>>;
  const [row] = await service.sql<{ gateway: string; candidates: string[] | null }[]>`
    select gateway, candidates from payments where id = ${String(answer.json['payment_id'])}`;
  return {
    status: answer.status,
    gateway: answer.json['gateway'],
    stored: row && [row.gateway, row.candidates],
    code: refusalOf(answer)[1],
    problems: details?.fields.map(({ path, rule }) => `${path}: ${rule}`),
    text: answer.text,
  };
};

describe('a create with several gateways', () => {
  it('keeps them in their order, and begins with the first', async () => {
    const made = await create({ gateways: [zibal, zarinpal] });
    expect(made).toMatchObject({ status: 201, gateway: zibal });
    expect(made.stored).toEqual([zibal, [zibal, zarinpal]]);
  });

  it('leaves out those that are disabled or do not take the payment; one alone is pinned', async () => {
    const amount = 800_000_000;
    expect(
      (await create({ amount, gateways: [payping, disabled, zarinpal, zibal] })).stored,
    ).toEqual([zarinpal, [zarinpal, zibal]]);
    expect((await create({ amount: 2_000_000_000, gateways: [zarinpal, zibal] })).stored).toEqual([
      zibal,
      null,
    ]);
  });

  it('is rejected with the reasons of each where none is left', async () => {
    const answer = await create({ amount: 500, gateways: [zarinpal, disabled, payping] });
    expect(answer.status).toBe(422);
    expect(answer.problems).toEqual([
      'amount: gateway_bounds',
      'gateways: in_use',
      'amount: gateway_bounds',
      'amount: gateway_bounds',
    ]);
    for (const slug of [zarinpal, disabled, payping]) expect(answer.text).toContain(slug);
  });

  it.each([
    ['both fields', { gateway: zibal, gateways: [zarinpal] }, ['gateways: exclusive']],
    ['no gateway', { gateways: [] }, ['gateways: length']],
    ['a text', { gateways: zibal }, ['gateways: invalid_type']],
    [
      'another problem',
      { gateways: [zarinpal], amount: 500, order_id: '' },
      ['order_id: length', 'amount: gateway_bounds'],
    ],
    [
      'a plan',
      { gateways: [zibal, zarinpal], sandbox: { outcome: 'paid' } },
      ['sandbox: sandbox_only', 'sandbox: sandbox_only'],
    ],
  ])('is rejected with %s', async (_, fields, problems) => {
    const answer = await create(fields);
    expect([answer.status, answer.problems]).toEqual([422, problems]);
  });

  it('with a test token takes sandboxes alone, and tells nothing of a live account', async () => {
    const { journey } = await service.anApplication();
    const made = await create({ currency: 'EUR', gateways: ['sandbox', test] }, journey);
    expect(made.stored).toEqual(['sandbox', ['sandbox', test]]);
    const refused = await create({ currency: 'EUR', gateways: ['sandbox', zibal] }, journey);
    expect(refused).toMatchObject({ status: 403, code: 'GATEWAY_NOT_ALLOWED' });
    expect(refused.problems).toBeUndefined();
  });

  it('is another request than one with other gateways, or the same in another order', async () => {
    expect((await create({ gateways: [zibal, zarinpal] }, shop, 'k')).status).toBe(201);
    expect((await create({ gateways: [zibal, zarinpal] }, shop, 'k')).status).toBe(201);
    for (const other of [[zarinpal, zibal], [zibal]])
      expect(await create({ gateways: other }, shop, 'k')).toMatchObject({
        status: 422,
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
  });
});

describe('the fallback gateways of an application', () => {
  it('are the candidates of a create that names none; one that names a gateway is at that one', async () => {
    const applications = createApplications(service.sql);
    const settings = (await applications.get(application))!;
    await applications.update(application, {
      ...settings,
      defaultGateway: zarinpal,
      fallbackGateways: [zibal, payping],
    });
    expect((await create({})).stored).toEqual([zarinpal, [zarinpal, zibal, payping]]);
    expect((await create({ gateway: zibal })).stored).toEqual([zibal, null]);
    expect((await create({ gateways: [payping] })).stored).toEqual([payping, null]);
    expect((await create({ amount: 2_000_000_000 })).stored).toEqual([zibal, null]);
    expect(await create({ amount: 500 })).toMatchObject({
      status: 422,
      problems: ['amount: gateway_bounds', 'amount: gateway_bounds', 'amount: gateway_bounds'],
    });
  });
});
