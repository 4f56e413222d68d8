import { describe, expect, it } from 'vitest';
import { ListGateways } from '../../../../contract/list-gateways.ts';
import { createQueryReader } from '../../../../api/http/query.ts';
import { newPayment } from '../../../../api/payments/new-payment.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import { parseJson } from '../../../../contract/json.ts';
import type { Gateway, GatewayUser } from '../../../../postgres/gateways/gateways.ts';
import type { Caller } from '../../../../postgres/applications/tokens.ts';
import { aCaller } from '../../../support/data/a-caller.ts';

const live = { driver: 'zibal', kind: 'live', enabled: true } as const;
const known: Gateway[] = [
  { slug: 'zibal', ...live },
  { slug: 'off', ...live, enabled: false },
  { slug: 'test', driver: 'sandbox', kind: 'sandbox', enabled: true },
];
const listNamed = async (slugs: readonly string[], user: GatewayUser) =>
  slugs
    .filter((slug) => user.slugs.includes(slug))
    .flatMap((slug) => known.filter((gateway) => gateway.slug === slug));
const allowedGateways = known.map(({ slug }) => slug);
const callbackUrls = ['https://shop.example/return'];

/** Whether it throws, and how. */
const problemsOf = async (work: () => unknown): Promise<string[]> => {
  try {
    await work();
    return [];
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    const { code, details } = error;
    const fields = details && 'fields' in details ? details.fields : undefined;
    return fields?.map(({ path, rule }) => `${path}: ${rule}`) ?? [code];
  }
};

const create = (fields: object, own: Partial<Caller> = {}) => {
  const body = { order_id: 'o-1', amount: 150_000, currency: 'IRR', ...fields };
  return newPayment(
    { gateways: { listNamed, sandboxSlugs: async () => ['test'] }, now: () => new Date() },
    {
      caller: { ...aCaller(), mode: 'live', callbackUrls, allowedGateways, ...own },
      refuse: (code, ...rest) => new PaymentError(code, ...rest),
    },
    parseJson(JSON.stringify(body)),
  );
};

describe('the gateways of a create', () => {
  it.each([
    ['a sandbox beside a disabled live one', { gateways: ['off', 'test'] }, ['gateways: kind']],
    [
      'an unknown one in a mixed list',
      { gateways: ['zibal', 'nobody', 'test'] },
      ['gateways.1: in_use', 'gateways: kind'],
    ],
    ['a disabled one alone', { gateways: ['off'] }, ['gateways: in_use']],
    ['a list in it', { gateways: [['zibal']] }, ['gateways.0: invalid_type']],
    ['an empty name', { gateways: [''] }, ['gateways.0: in_use']],
    ['another case', { gateways: ['Zibal'] }, ['gateways.0: in_use']],
    ['a space', { gateways: ['zibal '] }, ['gateways.0: in_use']],
    [
      'too many, one twice',
      { gateways: ['zibal', 'zibal', 'a', 'b', 'c', 'd'] },
      ['gateways: length', 'gateways: repeated'],
    ],
  ])('are rejected with %s', async (_, fields, problems) => {
    expect(await problemsOf(() => create(fields))).toEqual(problems);
  });

  it('are absent if the field is null', async () => {
    const { payment } = await create({ gateway: null, gateways: ['zibal'] });
    expect(payment.gateway).toBe('zibal');
    const other = await create({ gateway: 'zibal', gateways: null });
    expect([other.payment.gateway, other.candidates]).toEqual(['zibal', null]);
  });
});

describe('the query of the list of gateways', () => {
  const read = createQueryReader(ListGateways);

  it.each([
    ['currency', 'currency', ['irr', '', 'IRR%20']],
    ['amount', 'invalid_format', ['', '0', '01', '-1', '%2B1', '1e3', '%D9%A1', '1000000000000']],
  ])('takes the %s in one form alone', async (name, rule, values) => {
    for (const value of values)
      expect(await problemsOf(() => read(`${name}=${value}`)), value).toEqual([`${name}: ${rule}`]);
  });

  it('takes the largest amount', () => {
    expect(read('amount=999999999999')).toEqual({ amount: 999_999_999_999 });
  });
});
