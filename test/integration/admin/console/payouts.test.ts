import { describe, expect, it } from 'vitest';
import { formatMoney } from '../../../../contract/money.ts';
import { createPayouts } from '../../../../postgres/accounts/payouts.ts';
import { fillPayouts } from '../../../support/data/fill-payouts.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql } = await startFilledConsole();
const gateway = 'zarinpal';
const payments = await sql<
  { id: string; gateway: string; amount: number; currency: string; order_id: string }[]
>`
  select id, gateway, amount, currency, order_id from payments
  where status = 'paid' and not test and application = 'tickets' order by id limit 3`;
const { amount } = await fillPayouts(sql, { gateway, payments });

const operator = await console.logIn('operator');
const read = (address: string) => operator.read(address);
const path = `/accounts/payouts/${gateway}/po_listed`;

describe("the way from the bank's line to the payment", () => {
  it.each([
    [formatMoney({ amount, currency: 'EUR' })],
    [`STRIPE ${(amount / 100).toFixed(2).replace('.', ',')} 27.11.`],
    ['TRACE4711'],
    ['Payout/trace4711 SHOP'],
    ['po_listed'],
  ])('begins at the amount or the reference: %s', async (typed) => {
    const form = { text: typed, gateway: '' };
    const { headers } = await operator.post('/accounts/payouts/filter', form);
    const text = await read(headers.location ?? '');
    expect(text).toContain(path);
    expect(text).not.toContain('/accounts/payouts/zarinpal/po_chosen');
  });

  it('leads to the payments, with the sum', async () => {
    const text = await read(path);
    for (const { id, order_id: order } of payments) {
      expect(text).toContain(`/payments/${id}`);
      expect(text).toContain(order);
    }
    expect(text).toContain(formatMoney({ amount, currency: 'EUR' }));
    expect(text).toContain('The lines give the amount of the payout.');
  });

  it('names a rest that no line explains, one that is not listed yet, and one that never is', async () => {
    await sql`update payouts set amount = amount + 1 where id = 'po_listed'`;
    expect(await read(path)).toContain('0.01 EUR');
    await sql`update payouts set amount = amount - 1, read_at = null where id = 'po_listed'`;
    expect(await read(path)).toContain('not listed its lines yet');
    await sql`update payouts set read_at = now() where id = 'po_listed'`;
    const text = await read('/accounts/payouts/zarinpal/po_chosen');
    expect(text).toContain('does not say which payments this amount is of');
  });

  it('has a file, whose column net adds up to nothing', async () => {
    const { status, text } = await operator.get(`${path}/file`);
    const [names = '', ...rows] = text.trim().split('\r\n');
    const column = names.split(',').indexOf('net_minor');
    expect([status, rows.length]).toEqual([200, payments.length + 2]);
    expect(rows.reduce((sum, row) => sum + Number(row.split(',')[column]), 0)).toBe(0);
    expect(rows.filter((row) => payments.some(({ id }) => row.includes(id)))).toHaveLength(4);
  });

  it('has pages', async () => {
    await sql`
      insert into statement_lines (gateway, id, day, at, kind, type, amount, fee, currency, payout)
      select ${gateway}, 'txn_zz_' || n, '2026-11-20', now(), 'own_money', 'reserve_hold', 0, 0, 'EUR', 'po_listed'
      from generate_series(1, 60) n`;
    const text = await read(path);
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(text) ?? [];
    expect(await read(next)).toContain('txn_zz_');
    await sql`delete from statement_lines where id like 'txn_zz_%'`;
  });
});

describe('a payout of a gateway that has no list of all money', () => {
  const [payment] = payments;
  const id = '1405/09,07 N10';
  const address = `/accounts/payouts/${payment?.gateway}/${encodeURIComponent(id)}`;
  const known = {
    ...({ id, amount: 60, currency: 'EUR', status: 'paid', arrivesOn: '2026-11-20' } as const),
    ...{ createdAt: new Date('2026-11-20T10:00:00Z'), descriptor: null, bankReference: id },
  };
  const record = (...entries: (string | null)[]) =>
    createPayouts(sql).recordListed({ gateway: payment?.gateway ?? '', day: '2026-11-20' }, [
      {
        ...known,
        lines: entries.length === 0 ? 'never' : 'listed',
        paidOut: entries.map((source, n) => ({
          ...({ id: `${id}_${String(n).padStart(5, '0')}`, at: known.createdAt } as const),
          ...({ kind: 'payment', type: 'type 1', amount: 1, source } as const),
        })),
      },
    ]);

  it('says that the sum is all that is told', async () => {
    await record();
    const text = await read(address);
    expect(text).toContain('does not say which payments this amount is of');
    expect(text).toContain('0.60 EUR');
  });

  it('leads to the payments by their references, on as many pages as it needs', async () => {
    const [row] = await sql<{ reference: string }[]>`
      select gateway_reference as reference from payments where id = ${payment?.id ?? ''}`;
    await record(row?.reference ?? '', ...Array.from({ length: 59 }, () => null));
    const text = await read(address);
    expect(text).toContain(`/payments/${payment?.id}`);
    expect(text).toContain('The lines give the amount of the payout.');
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(text) ?? [];
    const second = await read(next);
    expect(second).toContain(`${id}_00059`);
    expect(second).not.toContain(`${id}_00001`);
    expect(await read(`${address}/file`)).toContain(payment?.id);
  });
});

describe('an address without a payout, or without the right', () => {
  it.each([
    ['/accounts/payouts/zarinpal/po_none'],
    ['/accounts/payouts/none/po_listed'],
    ['/accounts/payouts/zarinpal/po_none/file'],
    [`/accounts/payouts/zarinpal/${encodeURIComponent("po'); drop table payouts --")}`],
  ])('gets 404 for %s', async (address) => {
    expect((await operator.get(address)).status).toBe(404);
  });

  it('finds nothing by a text without meaning, and the list is there', async () => {
    const text = await read(`/accounts/payouts?text=${encodeURIComponent("% ' -- 0")}`);
    expect(text).toContain('No payout has this amount or this reference.');
    expect(await read('/accounts/payouts')).toContain(path);
    expect(await operator.lookingAt('test').read('/accounts/payouts')).not.toContain(path);
  });

  it('is not there for people of one application', async () => {
    const shop = await console.logIn('operator', 'of-shop', ['shop']);
    for (const address of ['/accounts/payouts', path, `${path}/file`])
      expect((await shop.get(address)).status, address).toBe(404);
  });
});
