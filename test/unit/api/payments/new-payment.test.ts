import { describe, expect, it } from 'vitest';
import { ListGateways } from '../../../../contract/list-gateways.ts';
import { createQueryReader } from '../../../../api/http/query.ts';
import { newPayment } from '../../../../api/payments/new-payment.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import { parseJson } from '../../../../contract/json.ts';
import type { Gateway } from '../../../../postgres/gateways.ts';
import type { Caller } from '../../../../postgres/tokens.ts';
import { aCaller } from '../../../support/data/a-caller.ts';

const live = { driver: 'zibal', kind: 'live', enabled: true } as const;
const known: Gateway[] = [
  { slug: 'zibal', ...live },
  { slug: 'off', ...live, enabled: false },
  { slug: 'test', driver: 'sandbox', kind: 'sandbox', enabled: true },
];
const listNamed = async (slugs: readonly string[]) =>
  slugs.flatMap((slug) => known.filter((gateway) => gateway.slug === slug));
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
      caller: { ...aCaller(), mode: 'live', callbackUrls, ...own },
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

  it('are those that take it, in their order', async () => {
    const { payment, candidates } = await create({ gateways: ['off', 'zibal'] });
    expect([payment.gateway, candidates]).toEqual(['zibal', null]);
  });

  it('are absent if the field is null', async () => {
    const { payment } = await create({ gateway: null, gateways: ['zibal'] });
    expect(payment.gateway).toBe('zibal');
    const other = await create({ gateway: 'zibal', gateways: null });
    expect([other.payment.gateway, other.candidates]).toEqual(['zibal', null]);
  });

  it('tell a test token nothing about a live account', async () => {
    const problems = problemsOf(() => create({ gateways: ['off', 'test'] }, { mode: 'test' }));
    expect(await problems).toEqual(['GATEWAY_NOT_ALLOWED']);
  });
});

describe('the query of the list of gateways', () => {
  const read = createQueryReader(ListGateways);

  it.each([
    ['currency=irr', 'currency: currency'],
    ['currency=', 'currency: currency'],
    ['currency=IRR%20', 'currency: currency'],
    ['currency=IRR&currency=IRR', 'currency: repeated'],
    ['amount=', 'amount: invalid_format'],
    ['amount=0', 'amount: invalid_format'],
    ['amount=01', 'amount: invalid_format'],
    ['amount=-1', 'amount: invalid_format'],
    ['amount=%2B1', 'amount: invalid_format'],
    ['amount=1e3', 'amount: invalid_format'],
    ['amount=%D9%A1', 'amount: invalid_format'],
    ['amount=1000000000000', 'amount: invalid_format'],
    ['Amount=1', 'Amount: unknown_field'],
    ['amount[]=1', 'amount[]: unknown_field'],
  ])('is rejected with %s', async (query, problem) => {
    expect(await problemsOf(() => read(query))).toEqual([problem]);
  });

  it('takes the largest amount', () => {
    expect(read('amount=999999999999')).toEqual({ amount: 999_999_999_999 });
  });
});
