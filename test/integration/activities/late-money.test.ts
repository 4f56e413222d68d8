import { describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../contract/ids.ts';
import type { GatewayAdapter } from '../../../gateways/gateway.ts';
import { createAdminPayouts } from '../../../postgres/admin/payouts.ts';
import { startMollie } from '../../fakes/mollie.ts';
import { anAccountOf, startLiveStripe } from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { adapterOf } from '../../support/gateways/fixture.ts';

const records = await forFile(startRecords());
const { sql } = records;
const dayOf = (n: number) => `2026-11-${String(n).padStart(2, '0')}`;
const at = (n: number, time = '12:00:00') => new Date(`${dayOf(n)}T${time}Z`);
const farAway = new Date('2100-01-01T12:00:00Z');

const anAccount = async (options: {
  gateway: string;
  driver: string;
  newAdapter: () => GatewayAdapter;
}) => {
  const { gateway } = options;
  const { compare } = await anAccountOf(records, { ...options, since: dayOf(3) });
  const textsOf = (rows: readonly { text?: string }[]) => rows.map(({ text }) => text);
  return {
    gateway,
    compare: async (...days: number[]) => {
      for (const day of days) await compare(dayOf(day));
    },
    /** The day of the month, the kind, what it is about, and both amounts. */
    differences: async () =>
      textsOf(
        await sql`
          select concat_ws(' ', extract(day from day), kind, subject, our_amount, their_amount, their_name) as text
          from account_differences where gateway = ${gateway} and state = 'open' order by day, kind, subject`,
      ),
    booked: async () =>
      textsOf(
        await sql`
          select concat_ws(' ', extract(day from day), kind, amount) as text from movements
          where gateway = ${gateway} and kind <> 'payment' order by day, kind, amount`,
      ),
    /** A payment that is paid here. */
    async pay(n: number, reference: string): Promise<string> {
      const id = newPaymentId();
      await sql`
        insert into movements ${sql({
          ...{ id: `payment:${id}`, kind: 'payment', gateway, day: dayOf(n), payment_id: id },
          ...{
            application: 'shop',
            test: false,
            order_id: 'order-1',
            amount: 1250,
            currency: 'EUR',
          },
          ...{ occurred_at: at(n), reference },
        })}`;
      return id;
    },
  };
};

const anAccountAtStripe = async () => {
  const { stripe, newAdapter, gateway } = await startLiveStripe();
  return { stripe, ...(await anAccount({ gateway, driver: 'stripe', newAdapter })) };
};

const anAccountAtMollie = async () => {
  const mollie = await forFile(startMollie({ mode: 'live' }));
  const credentials = {
    ...{ apiKey: 'live_0123456789abcdef', accessToken: 'access_0123456789abcdef' },
    baseUrl: mollie.url,
  };
  const newAdapter = () => adapterOf('mollie', { kind: 'live', credentials });
  const gateway = `mollie-${new URL(mollie.url).port}`;
  return { mollie, ...(await anAccount({ gateway, driver: 'mollie', newAdapter })) };
};

const charged = { type: 'charge', reporting_category: 'charge' };
const failed = { type: 'payment_failure_refund', reporting_category: 'charge_failure' };
const ownMoney = { type: 'topup', reporting_category: 'topup' };
const chargeOf = (paymentId: string) => ({
  ...{ id: 'ch_1', object: 'charge', amount: 1250, currency: 'eur', status: 'succeeded' },
  ...{ payment_intent: 'pi_1', metadata: { payment_id: paymentId } },
});
const refundOf = (paymentId: string) => ({ ...chargeOf(paymentId), id: 're_1', object: 'refund' });
/** More than a page of Stripe's list. */
const pageBetween = Array.from({ length: 100 }, (_, n) => n);

describe('two transactions of one charge on two pages of a list', () => {
  const atStripe = async (paymentId: string | null) => {
    const { stripe, compare, pay, ...account } = await anAccountAtStripe();
    const source = chargeOf(paymentId ?? (await pay(3, 'cs_1')));
    const charge = (time: string, fee: number) =>
      stripe.moveBalance({ ...charged }, { amount: 1250, fee, source, at: at(3, time) });
    const first = charge('09:00:00', 40);
    for (const n of pageBetween) stripe.moveBalance(ownMoney, { amount: n + 1, at: at(3) });
    const second = charge('15:00:00', 43);
    return { ...account, ...{ stripe, compare, source, first, second } };
  };

  it('are a payment and a second capture at Stripe, each with its fee', async () => {
    const { compare, differences, booked, second } = await atStripe(null);
    await compare(3);
    expect(await differences()).toEqual([`3 captured_twice ${second} 1250 1250 ch_1`]);
    expect(await booked()).toEqual(['3 fee -43', '3 fee -40']);
    await compare(3);
    expect(await differences()).toHaveLength(1);
  });

  it('are both unknown money at Stripe where no payment explains them', async () => {
    const { compare, differences, first, second } = await atStripe('');
    await compare(3);
    expect(await differences()).toEqual([
      `3 captured_unknown ${first} 1250 ch_1`,
      `3 captured_unknown ${second} 1250 ch_1`,
    ]);
  });

  it('are one payment once a failure has taken one of them back, and none after two', async () => {
    const { stripe, compare, differences, booked, source } = await atStripe(null);
    const fail = (time: string) =>
      stripe.moveBalance(failed, { amount: -1250, source, at: at(3, time) });
    fail('16:00:00');
    await compare(3);
    expect(await differences()).toEqual([]);
    expect(await booked()).toEqual(['3 fee -43', '3 fee -40']);
    fail('17:00:00');
    await compare(3);
    expect(await differences()).toEqual([]);
    expect((await booked()).filter((text) => text?.includes('chargeback'))).toHaveLength(1);
  });

  it('are two refunds at Stripe and at Mollie', async () => {
    const { stripe, ...ours } = await anAccountAtStripe();
    const refund = (time: string) =>
      stripe.moveBalance(
        { type: 'refund', reporting_category: 'refund' },
        { amount: -600, source: refundOf(''), at: at(3, time) },
      );
    const first = refund('09:00:00');
    for (const n of pageBetween) stripe.moveBalance(ownMoney, { amount: n + 1, at: at(3) });
    const second = refund('15:00:00');
    await ours.compare(3);
    expect(await ours.differences()).toEqual([
      `3 refund_unknown ${first} -600 re_1`,
      `3 refund_unknown ${second} -600 re_1`,
    ]);

    const { mollie, compare, differences } = await anAccountAtMollie();
    mollie.pagesHave(1);
    const context = { paymentId: 'tr_1', refundId: 're_1' };
    mollie.moveBalance('refund', { at: at(3, '09:00:00'), amount: -600, context });
    mollie.moveBalance('refund', { at: at(3, '15:00:00'), amount: -600, context });
    await compare(3);
    expect(await differences()).toEqual([
      '3 refund_unknown baltr_1 -600 re_1',
      '3 refund_unknown baltr_2 -600 re_1',
    ]);
  });

  it('are two captures where they are of two days', async () => {
    const { stripe, compare, pay, differences } = await anAccountAtStripe();
    const source = chargeOf(await pay(3, 'cs_1'));
    stripe.moveBalance(charged, { amount: 1250, source, at: at(3) });
    await compare(3);
    const second = stripe.moveBalance(charged, { amount: 1250, source, at: at(4) });
    await compare(4, 3);
    expect(await differences()).toEqual([`4 captured_twice ${second} 1250 1250 ch_1`]);
  });
});

describe('money that comes into the list of a closed day', () => {
  const of = (reference: string) => ({ paymentId: reference });

  it('is of the day that finds it, for a week at Mollie', async () => {
    const { mollie, compare, differences, booked } = await anAccountAtMollie();
    mollie.pagesHave(2);
    const move = (n: number, reference: string) =>
      mollie.moveBalance('payment', {
        ...{ at: at(n), amount: 1250, deducted: { fees: -30 }, context: of(reference) },
      });
    move(3, 'tr_1');
    await compare(3, 4, 5, 6, 7, 8, 9);
    const first = '3 captured_unknown baltr_1 1250 tr_1';
    expect(await differences()).toEqual([first]);
    move(3, 'tr_2');
    move(9, 'tr_3');
    await compare(10);
    const late = ['10 captured_unknown baltr_2 1250 tr_2', '10 captured_unknown baltr_3 1250 tr_3'];
    expect(await differences()).toEqual([first, ...late]);
    expect(await booked()).toEqual(['3 fee -30', '10 fee -30', '10 fee -30']);
    // It stays there, whatever is compared again.
    await compare(10, 3, 9, 11, 10);
    expect(await differences()).toEqual([first, ...late]);
    expect(await booked()).toHaveLength(3);
  });

  it('is a second capture also where it is dated before the first one', async () => {
    const { stripe, compare, pay, differences } = await anAccountAtStripe();
    const source = chargeOf(await pay(4, 'cs_1'));
    await compare(3);
    stripe.moveBalance(charged, { amount: 1250, source, at: at(4) });
    await compare(4);
    const late = stripe.moveBalance(charged, { amount: 1250, source, at: at(4, '11:00:00') });
    await compare(5, 4, 5);
    expect(await differences()).toEqual([`5 captured_twice ${late} 1250 1250 ch_1`]);
  });

  it('is a line of the day that finds it, with which the balance of Stripe agrees', async () => {
    const { stripe, compare, differences, gateway } = await anAccountAtStripe();
    await compare(3);
    const id = stripe.moveBalance(ownMoney, { amount: 700, at: at(3) });
    await compare(4);
    const payout = stripe.payOut([id], { at: at(4) });
    await compare(5);
    expect(await differences()).toEqual([]);
    const lines = await sql`
      select id, day::text from statement_lines where gateway = ${gateway} order by day`;
    expect(lines).toEqual([
      { id, day: dayOf(4) },
      { id: `txn_${payout.id}`, day: dayOf(5) },
    ]);
    const [known] = await createAdminPayouts(sql).list(
      { gateway, test: false, find: null },
      { after: null, limit: 9 },
    );
    expect(known).toMatchObject({ id: payout.id, amount: 700 });
  });

  it('is a gap of the balance where Stripe lists it later than a day, or dates it in the future', async () => {
    const { stripe, compare, differences } = await anAccountAtStripe();
    await compare(3, 4, 5);
    stripe.moveBalance(ownMoney, { amount: 700, at: at(3) });
    await compare(6);
    stripe.moveBalance(ownMoney, { amount: 5, at: farAway });
    await compare(7);
    expect(await differences()).toEqual([
      '6 balance_differs balance:2026-11-06:EUR 0 700',
      '7 balance_differs balance:2026-11-07:EUR 700 705',
    ]);
  });

  it('is not found again once a purge has deleted its entry', async () => {
    const { mollie, compare, differences, gateway } = await anAccountAtMollie();
    mollie.moveBalance('payment', { at: at(3), amount: 1250, context: of('tr_1') });
    await compare(3);
    await sql`delete from gateway_entries where gateway = ${gateway}`;
    await compare(4);
    expect(await differences()).toEqual(['3 captured_unknown baltr_1 1250 tr_1']);
  });

  it('is what another time zone has left out', async () => {
    const { mollie, compare, differences, gateway } = await anAccountAtMollie();
    await compare(3);
    await sql`update gateways set time_zone = 'America/New_York' where slug = ${gateway}`;
    mollie.moveBalance('payment', { at: at(4, '02:00:00'), amount: 1250, context: of('tr_1') });
    await compare(4);
    expect(await differences()).toEqual(['4 captured_unknown baltr_1 1250 tr_1']);
  });
});

describe('money that Mollie dates in the future', () => {
  it('is of the day that finds it, and stays there', async () => {
    const { mollie, compare, differences, booked } = await anAccountAtMollie();
    const move = (type: string, amount: number, context: object) =>
      mollie.moveBalance(type, {
        ...{ at: farAway, amount, deducted: { fees: -30 }, context: { ...context } },
      });
    move('payment', 1250, { paymentId: 'tr_1' });
    move('payment-fee', -9, {});
    await compare(3, 4, 3);
    expect(await differences()).toEqual(['3 captured_unknown baltr_1 1250 tr_1']);
    expect(await booked()).toEqual(['3 fee -39', '3 fee -30']);
  });

  it('is of its own day where that is the next one', async () => {
    const { mollie, compare, differences } = await anAccountAtMollie();
    const soon = new Date(Date.now() + 12 * 3_600_000);
    mollie.moveBalance('payment', { at: soon, amount: 1250, context: { paymentId: 'tr_1' } });
    await compare(3);
    expect(await differences()).toEqual([]);
  });
});
