import { describe, expect, it } from 'vitest';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const { sql } = records;
await records.addGateway('stripe');
await records.addGateway('zarinpal');
const operations = operationsOn(sql);
const month = '2026-10';
const all = { application: null, test: false };

interface Moved {
  kind: string;
  amount: number;
  day?: string;
  application?: string | null;
  gateway?: string;
  currency?: string;
  reference?: string;
}

let moves = 0;
const move = ({ kind, amount, reference = `R${(moves += 1)}`, ...own }: Moved) => {
  const moved = {
    gateway: 'stripe',
    application: 'shop',
    day: '2026-10-10',
    currency: 'EUR',
    ...own,
  };
  const id = `${kind}:${moved.gateway}:${reference}`;
  return sql`insert into movements ${sql({
    ...{ ...moved, id, kind, amount, reference, test: false },
    occurred_at: new Date(`${moved.day}T12:00:00Z`),
  })}`;
};

/** A payout of Stripe as its statement, the sweeper and the comparison have it. */
const payOut = async (id: string, amount: number, line: { amount: number; fee: number }) => {
  const at = new Date('2026-10-20T12:00:00Z');
  const day = '2026-10-20';
  const own = { ...{ id: `txn_${id}`, kind: 'payout', type: 'payout', fee: 0 }, amount: -amount };
  const paid = { ...{ id: `ch_${id}`, kind: 'payment', type: 'charge' }, ...line };
  await sql`insert into statement_lines ${sql(
    [own, paid].map((each) => {
      const payout = each === own ? id : null;
      return { ...each, gateway: 'stripe', day, at, currency: 'EUR', source: each.id, payout };
    }),
  )}`;
  await sql`insert into payout_lines ${sql({ gateway: 'stripe', id: paid.id, payout: id })}`;
  await sql`insert into payouts ${sql({
    ...{ gateway: 'stripe', id, amount, currency: 'EUR', status: 'paid', created_at: at },
    ...{ arrives_on: '2026-10-22', descriptor: 'SHOP', bank_reference: `TRACE ${id}` },
    ...{ lines: 'listed', read_at: at },
  })}`;
  await move({ kind: 'payout', amount: -amount, application: null, day, reference: own.id });
};

await move({ kind: 'payment', amount: 10_000 });
await move({ kind: 'payment', amount: 2_500, day: '2026-10-31' });
await move({ kind: 'payment', amount: 700, application: 'quiet' });
await move({ kind: 'payment', amount: 900, currency: 'JPY' });
await move({ kind: 'late_payment', amount: 300 });
await move({ kind: 'late_reversal', amount: -300 });
await move({ kind: 'refund', amount: -1_000 });
await move({ kind: 'refund_returned', amount: 400 });
await move({ kind: 'refund_elsewhere', amount: -50 });
await move({ kind: 'fee', amount: -123, application: null });
await move({ kind: 'chargeback', amount: -2_500 });
await move({ kind: 'chargeback_returned', amount: 2_500 });
// The months before and after, and another account, have more.
await move({ kind: 'payment', amount: 1, day: '2026-09-30' });
await move({ kind: 'payment', amount: 1, day: '2026-11-01' });
await move({ kind: 'payment', amount: 77, gateway: 'zarinpal', currency: 'IRR' });
await payOut('po_1', 9_000, { amount: 9_200, fee: 200 });
await payOut('po_2', 1_000, { amount: 999, fee: 0 });
await move({ kind: 'payout_returned', amount: 1_000, application: null, reference: 'txn_back' });
await sql`insert into account_balances ${sql([
  { gateway: 'stripe', day: '2026-10-01', currency: 'EUR', opening: 500, net: 0, reported: 500 },
  {
    gateway: 'stripe',
    day: '2026-10-31',
    currency: 'EUR',
    opening: 500,
    net: 3_500,
    reported: 4_017,
  },
])}`;
const difference = { gateway: 'stripe', day: '2026-10-12', kind: 'amount_differs' };
const theirs = { their_amount: 1_250, their_currency: 'EUR' };
for (const subject of ['payment:1', 'payment:2'])
  await sql`insert into account_differences ${sql({
    ...{ ...difference, ...theirs, subject, our_amount: 1_200, our_currency: 'EUR' },
  })}`;
await sql`insert into account_differences ${sql([
  { ...difference, subject: 'explained', state: 'explained' },
  { ...difference, subject: 'of another month', state: 'open', day: '2026-11-12' },
])}`;

const gateways = ['stripe', 'zarinpal'];
const get = (owner = {}) => operations.accounts.month(month, gateways, { ...all, ...owner });

describe('the month of an account', () => {
  it('adds up each kind of each currency, and says what is left of the reported balance', async () => {
    const { accounts } = await get();
    const eur = {
      ...{ captured: 13_500, refunds: -900, fees: -123, chargebacks: 0, payouts: -9_000 },
      ...{ elsewhere: -50, left: 3_477, openDifferences: 2 },
    };
    expect(accounts).toMatchObject([
      {
        ...{ gateway: 'stripe', currency: 'EUR', ...eur },
        balance: { opening: 500, closing: 4_017, notBooked: 4_017 - 500 - 3_477 },
      },
      { gateway: 'stripe', currency: 'JPY', captured: 900, left: 900, balance: null },
      { gateway: 'zarinpal', currency: 'IRR', captured: 77, left: 77, openDifferences: 0 },
    ]);
  });

  it('has the payouts that were booked, as the bank names them, and what no line explains', async () => {
    const { payouts, accounts } = await get();
    const bank = { arrivesOn: '2026-10-22', descriptor: 'SHOP' };
    expect(payouts).toMatchObject([
      { kind: 'payout_returned', day: '2026-10-10', amount: 1_000, id: null, paidOut: null },
      { id: 'po_1', amount: -9_000, paidOut: 9_000, bankReference: 'TRACE po_1', ...bank },
      { id: 'po_2', amount: -1_000, paidOut: 999, bankReference: 'TRACE po_2', ...bank },
    ]);
    const sum = payouts.reduce((total, { amount }) => total + amount, 0);
    expect(sum).toBe(accounts[0]?.payouts);
  });

  it('names what is open, with both sides', async () => {
    const { differences } = await get();
    expect(differences).toEqual([
      {
        ...{ gateway: 'stripe', kind: 'amount_differs', count: 2 },
        ...{ ours: 2_400, ourCurrency: 'EUR', theirs: 2_500, theirCurrency: 'EUR' },
      },
    ]);
  });

  it('is the own movements alone for an application', async () => {
    const { accounts, payouts, differences } = await get({ application: 'quiet' });
    expect(accounts).toMatchObject([{ captured: 700, fees: 0, payouts: 0, balance: null }]);
    expect([payouts, differences]).toEqual([[], []]);
  });
});

describe('the file of the month', () => {
  const read = async (owner = {}) => {
    const { lines } = await operations.accounts.exportMonth(month, { ...all, ...owner });
    let text = '';
    for await (const part of lines) text += part;
    const [heading = '', ...rows] = text.trimEnd().split('\r\n');
    const names = heading.split(',');
    return rows.map((row) =>
      Object.fromEntries(row.split(',').map((value, index) => [names[index], value])),
    );
  };
  const sumOf = (rows: Awaited<ReturnType<typeof read>>, parts: RegExp) =>
    rows
      .filter(({ gateway, currency }) => gateway === 'stripe' && currency === 'EUR')
      .filter(({ part, kind }) => parts.test(`${part} ${kind}`))
      .reduce((sum, { amount_minor: amount }) => sum + Number(amount), 0);

  it('adds up to the closing balance in minor units', async () => {
    const rows = await read();
    expect(sumOf(rows, /^booked/)).toBe(3_477);
    expect(sumOf(rows, /^(?:booked|balance (?:opening|not_booked))/)).toBe(4_017);
    expect(sumOf(rows, /^balance closing/)).toBe(4_017);
  });

  it('has a line for each payout, its rest, and each kind that is open', async () => {
    const rows = await read();
    expect(rows.filter(({ kind }) => kind === 'payout')).toMatchObject([
      { payout: 'po_1', amount: '-90.00', bank_day: '2026-10-22', bank_reference: 'TRACE po_1' },
      { payout: 'po_2', amount: '-10.00', bank_text: 'SHOP' },
    ]);
    expect(rows.filter(({ part }) => part === 'open')).toMatchObject([
      { kind: 'payout_rest', payout: 'po_2', ours: '9.99', theirs: '10.00', amount: '' },
      { kind: 'amount_differs', count: '2', ours: '24.00', theirs: '25.00', amount: '' },
    ]);
    expect(rows.find(({ part }) => part === 'elsewhere')).toMatchObject({ amount: '-0.50' });
  });

  it('has no payout and no balance for an application', async () => {
    const rows = await read({ application: 'shop' });
    expect(new Set(rows.map(({ part, kind }) => (part === 'booked' ? kind : part)))).toEqual(
      new Set([
        ...['payment', 'late_payment', 'late_reversal', 'refund', 'refund_returned'],
        ...['chargeback', 'chargeback_returned', 'elsewhere'],
      ]),
    );
  });
});

it('the command line prints the month, and its file with what may still come', async () => {
  const shown = await runLine(() => operations, words(`accounts month ${month}`));
  expect(shown.out).toMatch(/^stripe EUR +135\.00 EUR +-9\.00 EUR +-1\.23 EUR/m);
  expect(shown.out).toContain('TRACE po_2');
  const file = await runLine(() => operations, words(`export month ${month}`));
  expect(file.out).toMatch(/^month,gateway,currency,part,kind,/);
  expect(file.notes).toContain('No day of stripe is closed');
});
