import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../../contract/time.ts';
import { createAccountDays } from '../../../postgres/accounts/days.ts';
import {
  accountActivities,
  anAccountOf,
  startLiveStripe,
} from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { aGateway } from '../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords());
const { sql } = records;

const dayOf = (n: number) => `2026-11-${String(n).padStart(2, '0')}`;
const at = (n: number, time = '12:00:00') => new Date(`${dayOf(n)}T${time}Z`);

/** An account that Stripe has, compared in the night after each day. */
const anAccount = async () => {
  const { stripe, newAdapter, gateway } = await startLiveStripe();
  const { compare } = await anAccountOf(records, { gateway, newAdapter });
  return {
    stripe,
    gateway,
    compare: (n: number, later?: number) => compare(dayOf(n), later),
    balances: () => sql<
      { day: string; currency: string; opening: number; net: number; reported: number }[]
    >`
      select day::text, currency, opening, net, reported from account_balances
      where gateway = ${gateway} order by day, currency`,
    /** Each with its amount, its fee and both together. */
    lines: async () => {
      const rows = await sql`
        select kind, type, category, amount, fee, net, currency, source, payout from statement_lines
        where gateway = ${gateway} order by at, id`;
      return rows.map((row) => Object.values(row));
    },
    movements: () => sql<{ kind: string; amount: number }[]>`
      select kind, amount from movements where gateway = ${gateway} order by occurred_at, kind`,
    async differences() {
      const any = { day: null, application: null, test: null };
      const all = await createAccountDays(sql).listDifferences(
        { ...any, gateway, state: 'open' },
        99,
      );
      return all
        .filter(({ kind }) => kind === 'balance_differs')
        .map((each) => [each.day, each.ourAmount, each.theirAmount, each.theirCurrency]);
    },
  };
};

const labels = (type: string, category = type) => ({ type, reporting_category: category });
const charged = labels('charge');

describe('the statement of an account', () => {
  it('has every line of the list, whatever became of it', async () => {
    const { stripe, compare, lines, movements } = await anAccount();
    const charge = { amount: 1_250, currency: 'eur', trackingCode: 'pi_1', paymentId: '' };
    stripe.charge(charge, { at: at(3, '09:00:00'), fee: 43 });
    const money = { amount: 700, currency: 'eur' };
    const pending = { id: 'py_9', object: 'charge', ...money, status: 'pending' };
    stripe.moveBalance(charged, { amount: 700, at: at(3, '10:00:00'), source: pending });
    const unknown = labels('a_new_type', 'a_new_category');
    stripe.moveBalance(unknown, { amount: 5, at: at(3, '11:00:00') });
    const payout = { source: { id: 'po_1', object: 'payout' }, fee: 25, at: at(3) };
    stripe.moveBalance(labels('payout'), { amount: -900, ...payout });
    const cameBack = { amount: 900, at: at(3, '13:00:00'), source: 'po_1' };
    stripe.moveBalance(labels('payout_failure', 'payout_reversal'), cameBack);
    const topUp = { amount: 60, currency: 'jpy', at: at(3, '14:00:00') };
    stripe.moveBalance(labels('topup'), topUp);
    await compare(3);
    expect(await lines()).toEqual([
      ['payment', 'charge', 'charge', 1_250, 43, 1_207, 'EUR', 'ch_1', null],
      ['payment', 'charge', 'charge', 700, 0, 700, 'EUR', 'py_9', null],
      ['other', 'a_new_type', 'a_new_category', 5, 0, 5, 'EUR', null, null],
      ['payout', 'payout', 'payout', -900, 25, -925, 'EUR', null, 'po_1'],
      [
        ...['payout_returned', 'payout_failure', 'payout_reversal', 900, 0, 900, 'EUR'],
        ...[null, 'po_1'],
      ],
      ['own_money', 'topup', 'topup', 60, 0, 60, 'JPY', null, null],
    ]);
    expect(await movements()).toEqual([
      { kind: 'fee', amount: -43 },
      { kind: 'fee', amount: -25 },
      { kind: 'payout', amount: -900 },
      { kind: 'payout_returned', amount: 900 },
    ]);
  });

  it('forgets a line that has gone from the list, and takes a day that was read again', async () => {
    const { stripe, compare, lines } = await anAccount();
    const gone = stripe.moveBalance(charged, { amount: 700, at: at(3) });
    await compare(3);
    await compare(3);
    expect(await lines()).toHaveLength(1);
    stripe.takeBack(gone);
    await compare(3);
    expect(await lines()).toEqual([]);
  });
});

describe('the balance of an account', () => {
  it('goes from the opening one through the lines of each day to the one at the gateway', async () => {
    const { stripe, compare, balances, differences } = await anAccount();
    stripe.before.set('eur', 10_000).set('jpy', -7);
    stripe.moveBalance(charged, { amount: 2_000, fee: 53, at: at(3) });
    await compare(3);
    // The next day has lines when the day is compared, and another currency.
    stripe.moveBalance(charged, { amount: 500, at: at(4, '00:00:00') });
    stripe.moveBalance(charged, { amount: 900, currency: 'usd', at: at(4, '23:59:59') });
    await compare(4);
    await compare(5);
    const none = { opening: 0, net: 0, reported: 0 };
    expect(await balances()).toEqual([
      { day: dayOf(3), currency: 'EUR', opening: 10_000, net: 1_947, reported: 11_947 },
      { day: dayOf(3), currency: 'JPY', opening: -7, net: 0, reported: -7 },
      { day: dayOf(4), currency: 'EUR', opening: 11_947, net: 500, reported: 12_447 },
      { day: dayOf(4), currency: 'JPY', opening: -7, net: 0, reported: -7 },
      { day: dayOf(4), currency: 'USD', ...none, net: 900, reported: 900 },
      { day: dayOf(5), currency: 'EUR', opening: 12_447, net: 0, reported: 12_447 },
      { day: dayOf(5), currency: 'JPY', opening: -7, net: 0, reported: -7 },
      { day: dayOf(5), currency: 'USD', opening: 900, net: 0, reported: 900 },
    ]);
    expect(await differences()).toEqual([]);
  });

  it('names a gap on its own day alone, and calls it mended once the line is there', async () => {
    const { stripe, compare, differences } = await anAccount();
    await compare(3);
    const line = stripe.moveBalance(charged, { amount: 1, at: at(4) });
    stripe.hidden.add(line);
    await compare(4);
    await compare(5);
    expect(await differences()).toEqual([[dayOf(4), 0, 1, 'EUR']]);
    await compare(4);
    expect(await differences()).toEqual([[dayOf(4), 0, 1, 'EUR']]);
    stripe.hidden.delete(line);
    await compare(4);
    expect(await differences()).toEqual([]);
  });

  it('goes on from the lines where the gateway was silent, and finds the gap later', async () => {
    const { stripe, compare, balances, differences } = await anAccount();
    stripe.before.set('eur', 100);
    await compare(3);
    stripe.moveBalance(charged, { amount: 20, at: at(4) });
    stripe.hidden.add(stripe.moveBalance(charged, { amount: 3, at: at(4) }));
    stripe.refuse('/v1/balance', { status: 500, type: 'api_error' });
    await compare(4);
    expect((await balances()).at(-1)).toEqual({
      ...{ day: dayOf(4), currency: 'EUR', opening: 100, net: 20, reported: null },
    });
    expect(await differences()).toEqual([]);
    await compare(5);
    expect(await differences()).toEqual([[dayOf(5), 120, 123, 'EUR']]);
  });

  it('is not told for a day that is long over', async () => {
    const { stripe, compare, balances } = await anAccount();
    stripe.moveBalance(charged, { amount: 20, at: at(4) });
    await compare(4, 3 * dayMs);
    expect(await balances()).toEqual([
      { day: dayOf(4), currency: 'EUR', opening: null, net: 20, reported: null },
    ]);
  });
});

describe('a list that has no end is no usable answer', () => {
  const list = (
    positions: (page: number) => string,
    read?: { since: string; pages: number; mark: null },
  ) => {
    let pages = 0;
    const { gatewayOf } = aGateway({
      book: async () => ({ entries: [], lines: [], next: positions((pages += 1)) }),
    });
    const { listBook } = accountActivities(records, { gatewayOf });
    const day = { gateway: 'sandbox', day: dayOf(20), after: null };
    const reading = new MockActivityEnvironment().run(() =>
      listBook({ ...day, ...(read && { read }) }),
    );
    return { reading, read: () => pages };
  };

  it.each([
    ['its first page again', () => 'a', 2],
    ['three pages in a circle', (page: number) => `${page % 3}`, 7],
    [
      'a circle that does not begin at once',
      (page: number) => `${Math.max(page, 5 + (page % 2))}`,
      9,
    ],
  ])('with %s', async (_name, positions, most) => {
    const { reading, read } = list(positions);
    await expect(reading).rejects.toThrow('repeats its position');
    expect(read()).toBeLessThanOrEqual(most);
  });

  it('with a page more than are read of a day', async () => {
    const { reading, read } = list((page) => `${page}`, {
      since: '2026-11-20T00:00:00Z',
      pages: 19_998,
      mark: null,
    });
    await expect(reading).rejects.toThrow('more than 20000 pages');
    expect(read()).toBe(2);
  });
});
