import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../../contract/time.ts';
import { createAccountDays } from '../../../postgres/account-days.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { startStripe } from '../../fakes/stripe.ts';
import { accountActivities } from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { adapterOf } from '../../support/gateways/fixture.ts';
import { readableLogger } from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords());
const { sql } = records;

const dayOf = (n: number) => `2026-11-${String(n).padStart(2, '0')}`;
const at = (n: number, time = '12:00:00') => new Date(`${dayOf(n)}T${time}Z`);

/** An account that Stripe has, compared in the night after each day. */
const anAccount = async () => {
  const stripe = await forFile(startStripe({ mode: 'live' }));
  const gateway = `stripe-${stripe.url.split(':').at(-1)}`;
  await createGateways(sql).insert({
    slug: gateway,
    driver: 'stripe',
    kind: 'live',
    credentials: '',
  });
  await sql`update gateways set created_at = ${at(1, '00:00:00')} where slug = ${gateway}`;
  let now = new Date();
  const log = readableLogger();
  const { listBook, finishDay } = accountActivities(records, {
    gatewayOf: () =>
      adapterOf('stripe', {
        kind: 'live',
        credentials: { secretKey: 'sk_live_0123456789abcdef', baseUrl: stripe.url },
      }),
    now: () => now,
    logger: log.logger,
  });
  const run = <R>(work: () => Promise<R>): Promise<R> => new MockActivityEnvironment().run(work);

  return {
    stripe,
    gateway,
    /** @param later when the comparison runs, after the day is over */
    async compare(n: number, later = 2 * 3_600_000) {
      const account = { gateway, day: dayOf(n) };
      now = new Date(at(n, '00:00:00').getTime() + dayMs + later);
      await run(() => listBook({ ...account, after: null }));
      await run(() => finishDay({ ...account, hasList: true }));
    },
    balances: () => sql<
      { day: string; currency: string; opening: number; net: number; told: number }[]
    >`
      select day::text, currency, opening, net, told from account_balances
      where gateway = ${gateway} order by day, currency`,
    lines: () => sql`
      select id, kind, type, category, amount, fee, net, currency, entry, payout from statement_lines
      where gateway = ${gateway} order by at, id`,
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

const charged = { type: 'charge', reporting_category: 'charge' };

describe('the statement of an account', () => {
  it('has every line of the list, whatever became of it', async () => {
    const { stripe, compare, lines, movements } = await anAccount();
    const charge = { amount: 1_250, currency: 'eur', trackingCode: 'pi_1', paymentId: '' };
    stripe.charge(charge, { at: at(3, '09:00:00'), fee: 43 });
    const pending = {
      id: 'py_9',
      object: 'charge',
      amount: 700,
      currency: 'eur',
      status: 'pending',
    };
    stripe.moveBalance(charged, { amount: 700, at: at(3, '10:00:00'), source: pending });
    stripe.moveBalance(
      { type: 'a_new_type', reporting_category: 'a_new_category' },
      { amount: 5, at: at(3, '11:00:00') },
    );
    stripe.moveBalance(
      { type: 'payout', reporting_category: 'payout' },
      { amount: -900, fee: 25, at: at(3), source: { id: 'po_1', object: 'payout' } },
    );
    stripe.moveBalance(
      { type: 'payout_failure', reporting_category: 'payout_reversal' },
      { amount: 900, at: at(3, '13:00:00'), source: 'po_1' },
    );
    stripe.moveBalance(
      { type: 'topup', reporting_category: 'topup' },
      { amount: 60, currency: 'jpy', at: at(3, '14:00:00') },
    );
    await compare(3);
    const eur = { currency: 'EUR', payout: null };
    expect(await lines()).toEqual([
      {
        ...eur,
        id: 'txn_ch_1',
        kind: 'payment',
        type: 'charge',
        category: 'charge',
        amount: 1_250,
        fee: 43,
        net: 1_207,
        entry: 'ch_1',
      },
      {
        ...eur,
        id: 'txn_other_1',
        kind: 'payment',
        type: 'charge',
        category: 'charge',
        amount: 700,
        fee: 0,
        net: 700,
        entry: null,
      },
      {
        ...eur,
        id: 'txn_other_2',
        kind: 'other',
        type: 'a_new_type',
        category: 'a_new_category',
        amount: 5,
        fee: 0,
        net: 5,
        entry: 'txn_other_2',
      },
      {
        ...eur,
        id: 'txn_other_3',
        kind: 'payout',
        type: 'payout',
        category: 'payout',
        amount: -900,
        fee: 25,
        net: -925,
        entry: 'txn_other_3',
        payout: 'po_1',
      },
      {
        ...eur,
        id: 'txn_other_4',
        kind: 'payout_returned',
        type: 'payout_failure',
        category: 'payout_reversal',
        amount: 900,
        fee: 0,
        net: 900,
        entry: 'txn_other_4',
        payout: 'po_1',
      },
      {
        ...eur,
        id: 'txn_other_5',
        kind: 'own_money',
        type: 'topup',
        category: 'topup',
        amount: 60,
        fee: 0,
        net: 60,
        currency: 'JPY',
        entry: 'txn_other_5',
      },
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
    const none = { opening: 0, net: 0, told: 0 };
    expect(await balances()).toEqual([
      { day: dayOf(3), currency: 'EUR', opening: 10_000, net: 1_947, told: 11_947 },
      { day: dayOf(3), currency: 'JPY', opening: -7, net: 0, told: -7 },
      { day: dayOf(4), currency: 'EUR', opening: 11_947, net: 500, told: 12_447 },
      { day: dayOf(4), currency: 'JPY', opening: -7, net: 0, told: -7 },
      { day: dayOf(4), currency: 'USD', ...none, net: 900, told: 900 },
      { day: dayOf(5), currency: 'EUR', opening: 12_447, net: 0, told: 12_447 },
      { day: dayOf(5), currency: 'JPY', opening: -7, net: 0, told: -7 },
      { day: dayOf(5), currency: 'USD', opening: 900, net: 0, told: 900 },
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
      ...{ day: dayOf(4), currency: 'EUR', opening: 100, net: 20, told: null },
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
      { day: dayOf(4), currency: 'EUR', opening: null, net: 20, told: null },
    ]);
  });
});
