import { beforeAll, describe, expect, it } from 'vitest';
import type { BookEntry, StatementLine } from '../../../contract/book-entry.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { parseBook } from '../../../gateways/mollie-book.ts';
import { mollie } from '../../support/gateways/mollie.ts';
import { aProvider } from '../../support/gateways/provider.ts';

const { provider, adapter, callsOf } = aProvider(mollie);
const day = { from: new Date('2026-11-20T00:00:00Z'), to: new Date('2026-11-21T00:00:00Z') };
const at = new Date('2026-11-20T12:00:00Z');

const euros = (value: string, currency = 'EUR') => ({ value, currency });
const moved = {
  ...{ id: 'baltr_1', type: 'payment', createdAt: '2026-11-20T12:00:00+00:00' },
  ...{ initialAmount: euros('12.50'), resultAmount: euros('12.50'), context: null },
};
const parse = (transaction: object) =>
  parseBook(
    {
      status: 200,
      body: { _embedded: { balance_transactions: [{ ...moved, ...transaction }] }, _links: {} },
    },
    day,
  );
const entryOf = (transaction: object) => parse(transaction).entries[0];

const known: [string, string, string][] = [
  ['payment', '12.50', 'payment'],
  ['capture', '12.50', 'payment'],
  ['failed-payment', '-12.50', 'payment_failed'],
  ['refund', '-4.00', 'refund'],
  ['returned-refund', '4.00', 'refund_returned'],
  ['chargeback', '-12.50', 'chargeback'],
  ['chargeback-reversal', '12.50', 'chargeback'],
  ['unauthorized-direct-debit', '-12.50', 'chargeback'],
  ['payment-fee', '-0.29', 'fee'],
  ['invoice-compensation', '-0.01', 'fee'],
  ['outgoing-transfer', '-50.00', 'payout'],
  ['returned-transfer', '50.00', 'payout_returned'],
  ['canceled-transfer', '50.00', 'payout_returned'],
  ['topup', '50.00', 'own_money'],
  ['rolling-reserve-hold', '-5.00', 'own_money'],
  // No text of the document explains these.
  ...['balance-correction', 'loan', 'repayment', 'movement', 'split-payment', 'incoming-transfer']
    .concat(['refund-compensation', 'chargeback-compensation', 'a-new-type'])
    .map((type): [string, string, string] => [type, '1.00', 'other']),
  // Contradictions.
  ['payment', '-12.50', 'other'],
  ['refund', '4.00', 'other'],
  ['outgoing-transfer', '50.00', 'other'],
  ['failed-payment', '12.50', 'other'],
];

describe('mollie, the book', () => {
  it.each(known)('books %s of %s as %s', (type, value, kind) => {
    const amounts = { initialAmount: euros(value), resultAmount: euros(value) };
    const entry = entryOf({ type, ...amounts });
    expect(entry).toMatchObject({ kind, id: 'baltr_1', currency: 'EUR', fee: 0 });
    expect(entry?.amount).toBe(Math.round(Number(value) * 100));
    const hasName = kind === 'other' || kind === 'payment_failed';
    expect(entry?.name).toBe(hasName ? type : undefined);
  });

  it('takes the fee from the two amounts, and keeps what was withheld for the owner apart', () => {
    const { entries, lines } = parse({
      resultAmount: euros('12.03'),
      deductionDetails: {
        ...{ fees: euros('-0.25'), commissions: euros('-0.02') },
        ...{ repayments: euros('-0.09'), reservations: euros('-0.11') },
      },
    });
    expect(entries).toMatchObject([
      { id: 'baltr_1', kind: 'payment', amount: 1250, fee: 27 },
      { id: 'baltr_1-withheld', source: null, kind: 'own_money', amount: -20, fee: 0 },
    ]);
    const balance = lines.reduce((sum, { amount, fee }) => sum + amount - fee, 0);
    expect(balance).toBe(1203);
  });

  it.each([
    ['as in the examples of the document', { paymentId: 'tr_1', refundId: 're_1' }],
    ['as in its schema', { refund: { paymentId: 'tr_1', refundId: 're_1' } }],
  ])('reads the context %s', (_name, context) => {
    const amounts = { initialAmount: euros('-4.00'), resultAmount: euros('-4.25') };
    const { entries, lines } = parse({ type: 'refund', ...amounts, context });
    expect(entries).toEqual([
      {
        ...{
          id: 'baltr_1',
          source: 're_1',
          kind: 'refund',
          at,
          amount: -400,
          currency: 'EUR',
          fee: 25,
        },
        payment: { reference: 'tr_1', trackingCode: null, id: null },
        refundId: null,
      },
    ]);
    expect(lines).toEqual([
      {
        ...{ id: 'baltr_1', at, kind: 'refund', type: 'refund', category: null, amount: -400 },
        ...{ fee: 25, currency: 'EUR', availableOn: null, source: 're_1', payout: null },
      },
    ]);
  });

  it('finds the refund whose money came back', () => {
    const context = { paymentId: 'tr_1', refundId: 're_1' };
    expect(entryOf({ type: 'returned-refund', context })).toMatchObject({
      ...{ id: 'baltr_1', kind: 'refund_returned', source: 're_1' },
    });
  });

  it('has a line and no entry for what moves nothing', () => {
    const nothing = { initialAmount: euros('0.00'), resultAmount: euros('0.00') };
    const { entries, lines } = parse({ ...nothing, type: 'refund' });
    expect(entries).toEqual([]);
    expect(lines).toMatchObject([{ id: 'baltr_1', amount: 0, source: null }]);
  });

  it.each([
    ['two currencies', { resultAmount: euros('12.50', 'GBP') }],
    ['an amount that is no number', { resultAmount: euros('12,50') }],
    ['a time that is none', { createdAt: 'yesterday' }],
  ])('throws for %s in one transaction', (_name, change) => {
    expect(() => parse(change)).toThrow(GatewayUnavailable);
  });
});

describe('mollie, the pages of the book', () => {
  /** The comparison leaves what is newer. */
  const inDay = ({ at: time }: { at: Date }) => time < day.to;
  const readAll = async () => {
    const entries: BookEntry[] = [];
    const lines: StatementLine[] = [];
    let after: string | null = null;
    do {
      const page = await adapter().book!(day, after);
      entries.push(...page.entries);
      lines.push(...page.lines);
      after = page.next;
    } while (after !== null);
    return { entries: entries.filter(inDay), lines: lines.filter(inDay) };
  };
  let ids: string[];
  let payout: string;

  beforeAll(() => {
    const bank = provider();
    const move = (time: string, currency = 'EUR') =>
      bank.moveBalance('payment', { at: new Date(time), amount: 100, currency });
    for (let hour = 10; hour < 20; hour += 1) move(`2026-11-19T${hour}:00:00Z`);
    ids = [move('2026-11-20T00:00:00Z'), move('2026-11-20T23:59:59Z')];
    ids.push(move('2026-11-20T13:00:00Z', 'GBP'));
    for (const time of ['2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z']) {
      move(time);
      move(time, 'GBP');
    }
    payout = bank.settle(150, { at }).id;
    bank.pagesHave(2);
  });

  it('have what moved every balance in the period, and end before the whole past is read', async () => {
    const calls = await callsOf(async () => {
      const { entries, lines } = await readAll();
      const found = lines.map(({ id }) => id);
      expect(found).toHaveLength(4);
      expect(found).toEqual(expect.arrayContaining(ids));
      expect(entries).toHaveLength(4);
      const currencies = new Set(entries.map(({ currency }) => currency));
      expect(currencies).toEqual(new Set(['EUR', 'GBP']));
    });
    const pages = calls.filter(({ path }) => path.includes('bal_aEUR/transactions'));
    // Two before the period, three of it, of which the last is half older, and one that is older.
    expect(pages.length).toBeLessThanOrEqual(5);
  });

  it('stay valid when something moves between two of them', async () => {
    const first = await adapter().book!(day, null);
    provider().moveBalance('payment', { at: new Date(), amount: 100 });
    let { next } = first;
    const lines = [...first.lines];
    while (next !== null) {
      const page = await adapter().book!(day, next);
      lines.push(...page.lines);
      ({ next } = page);
    }
    expect(lines.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    expect(lines.filter(inDay)).toHaveLength(4);
  });

  it('lead from a payout to its settlement', async () => {
    const { lines } = await readAll();
    expect(lines.filter((line) => line.payout !== null)).toMatchObject([
      { kind: 'payout', amount: -150, payout },
    ]);
    expect(await adapter().payout!(payout)).toEqual({
      ...{ amount: 150, currency: 'EUR', status: 'paid', createdAt: at, arrivesOn: '2026-11-20' },
      ...{ descriptor: null, bankReference: '1234567.2611.01', lines: 'never' },
    });
    await expect(adapter().payout!('stl_unknown')).rejects.toThrow(GatewayUnavailable);
  });

  it.each([
    ['open', 'on_its_way'],
    ['pending', 'on_its_way'],
    ['processing-at-bank', 'on_its_way'],
    ['paidout', 'paid'],
    ['failed', 'failed'],
  ])('read a settlement that is %s as %s', async (status, expected) => {
    const made = provider().settle(100, { at: new Date('2026-11-25T00:00:00Z') });
    Object.assign(made, { status, settledAt: null });
    expect(await adapter().payout!(made.id)).toMatchObject({ status: expected, arrivesOn: null });
  });
});
