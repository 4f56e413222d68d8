import { describe, expect, it } from 'vitest';
import type { GatewayAdapter } from '../../../gateways/gateway.ts';
import { parseBook as parseMollie } from '../../../gateways/mollie-book.ts';
import { parseBook as parseStripe } from '../../../gateways/stripe-book.ts';
import { anAccountOf } from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';

/* What no source of a provider forbids, or a fault of theirs: each is named, and no day stops for ever. */
const records = await forFile(startRecords());
const day = '2026-11-20';
const noon = new Date(`${day}T12:00:00Z`);
let accounts = 0;

/** Compares the day with one page of a book. @returns the differences, the movements, and what the lines add up to */
const compared = async (driver: string, { book }: Pick<GatewayAdapter, 'book'>) => {
  const gateway = `odd-${driver}-${(accounts += 1)}`;
  // The comparison calls nothing else.
  const adapter = { book } as unknown as GatewayAdapter;
  const newAdapter = () => adapter;
  const { compare } = await anAccountOf(records, { gateway, driver, since: day, newAdapter });
  await compare(day);
  const differences = await records.sql`
    select concat_ws(' ', kind, subject, their_amount, their_currency, their_name) as text from account_differences
    where gateway = ${gateway} order by kind, subject`;
  const movements = await records.sql`
    select concat_ws(' ', kind, amount, currency) as text from movements where gateway = ${gateway} order by id`;
  const [lines] = await records.sql`
    select sum(net)::bigint as sum from statement_lines where gateway = ${gateway}`;
  const [closed] = await records.sql`select closed_at from account_days where gateway = ${gateway}`;
  expect(closed).toMatchObject({ closed_at: expect.any(Date) });
  const textsOf = (rows: typeof movements) => rows.map(({ text }) => String(text));
  return { named: textsOf(differences), booked: textsOf(movements), sum: Number(lines?.['sum']) };
};

const inStripe = (...data: object[]) =>
  compared('stripe', {
    book: async () =>
      parseStripe({
        status: 200,
        body: {
          has_more: false,
          data: data.map((each, nth) => ({
            ...{ id: `txn_${nth}`, type: 'charge', reporting_category: 'charge', fee: 0 },
            ...{ created: noon.getTime() / 1000, amount: 1250, currency: 'eur', source: null },
            ...each,
          })),
        },
      }),
  });

const money = (value: string, currency = 'EUR') => ({
  initialAmount: { value, currency },
  resultAmount: { value, currency },
});
const inMollie = (...items: object[]) =>
  compared('mollie', {
    book: async (period) =>
      parseMollie(
        {
          status: 200,
          body: {
            _links: {},
            _embedded: {
              balance_transactions: items.map((each, nth) => ({
                ...{ id: `baltr_${nth}`, type: 'payment', createdAt: noon.toISOString() },
                ...money('12.50'),
                ...each,
              })),
            },
          },
        },
        period,
      ),
  });

const charge = { id: 'ch_1', amount: 1250, currency: 'eur', status: 'succeeded' };
const refund = { id: 're_1', amount: 600, currency: 'eur', status: 'succeeded' };
const refunded = { type: 'refund', reporting_category: 'refund', amount: -300, source: refund };
const dispute = { type: 'adjustment', reporting_category: 'dispute', amount: -1250, fee: 1500 };
const ofMollie = { type: 'refund', ...money('-3.00'), context: { refundId: 're_1' } };

describe('a book with', () => {
  it('one transaction twice counts it once', async () => {
    const one = { named: ['captured_unknown txn_1 1250 EUR ch_1'], booked: [], sum: 1250 };
    const same = { id: 'txn_1', source: charge };
    expect(await inStripe(same, same)).toEqual(one);
    const named = ['captured_unknown baltr_1 1250 EUR'];
    expect(await inMollie({ id: 'baltr_1' }, { id: 'baltr_1' })).toEqual({ ...one, named });
  });

  it('two transactions of one charge or refund names both', async () => {
    expect(await inStripe({ source: charge }, { source: charge })).toEqual({
      named: ['captured_unknown txn_0 1250 EUR ch_1', 'captured_unknown txn_1 1250 EUR ch_1'],
      ...{ booked: [], sum: 2500 },
    });
    const twice = { booked: [], sum: -600 };
    const namedAs = (id: string) =>
      [0, 1].map((nth) => `refund_unknown ${id}_${nth} -300 EUR re_1`);
    expect(await inStripe(refunded, refunded)).toEqual({
      named: namedAs('txn'),
      ...twice,
    });
    expect(await inMollie(ofMollie, ofMollie)).toEqual({ named: namedAs('baltr'), ...twice });
  });

  it('a fraction of our unit names it, and books none of it', async () => {
    expect(await inMollie(money('12.505'))).toEqual({
      named: ['kind_unknown baltr_0 1251 EUR payment, 1250.5'],
      ...{ booked: [], sum: 1251 },
    });
    const kronur = { amount: 125_050, currency: 'isk', source: { ...charge, currency: 'isk' } };
    const fee = { type: 'stripe_fee', reporting_category: 'fee', amount: -150, currency: 'isk' };
    expect(await inStripe(kronur, fee)).toEqual({
      named: ['kind_unknown txn_0 1251 ISK payment, 1250.5', 'kind_unknown txn_1 -1 ISK fee, -1.5'],
      ...{ booked: [], sum: 1250 },
    });
  });

  it('a fee with a fraction of our unit names it, and books none of it', async () => {
    expect(
      await inMollie({ ...money('12.50'), resultAmount: { value: '12.203', currency: 'EUR' } }),
    ).toEqual({
      named: ['captured_unknown baltr_0 1250 EUR', 'kind_unknown baltr_0-fee -30 EUR fee, -29.7'],
      ...{ booked: [], sum: 1220 },
    });
    const kronur = { amount: 125_000, fee: 4_250, currency: 'isk' };
    expect(await inStripe({ ...kronur, source: { ...charge, currency: 'isk' } })).toEqual({
      named: ['captured_unknown txn_0 1250 ISK ch_1', 'kind_unknown txn_0-fee -42 ISK fee, -42.5'],
      ...{ booked: [], sum: 1207 },
    });
  });

  it('a currency that we do not take, or do not know, names it', async () => {
    expect((await inMollie(money('12.50', 'RUB'), money('12.505', 'KWD'))).named).toEqual([
      'captured_unknown baltr_0 1250 RUB',
      'captured_unknown baltr_1 12505 KWD',
    ]);
    const unknown = 'kind_unknown baltr_0 13 XXX payment, 12.5';
    expect((await inMollie(money('12.50', 'XXX'))).named).toEqual([unknown]);
    expect((await inStripe({ currency: 'xxx' })).named).toEqual([
      'captured_unknown txn_0 1250 XXX',
    ]);
  });

  it('a fee that the gateway pays, or a dispute in another currency, books each as it is', async () => {
    const { booked, sum } = await inStripe(
      { fee: -30, source: charge },
      { ...dispute, currency: 'usd' },
    );
    expect(booked).toEqual(['chargeback -1250 USD', 'fee 30 EUR', 'fee -1500 USD']);
    expect(sum).toBe(1250 + 30 - 1250 - 1500);
  });

  it('an amount that is too long refuses the list, and leaves the day open', async () => {
    const tooLong = inMollie(money('1234567890123456.00'));
    await expect(tooLong).rejects.toThrow('at most 15 digits');
  });

  it.each([
    ['2026-11-01', 0],
    ['2100-01-01', 1],
  ])('money of %s names it unless a comparison of its own day does', async (other, count) => {
    const time = new Date(`${other}T12:00:00Z`);
    const stray = { created: time.getTime() / 1000 };
    expect((await inStripe(stray)).named).toHaveLength(count);
    expect((await inMollie({ createdAt: time.toISOString() })).named).toHaveLength(count);
  });
});
