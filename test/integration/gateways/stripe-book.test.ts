import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../contract/ids.ts';
import { createAccountDays } from '../../../postgres/accounts/days.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { newEntry } from '../../fakes/server.ts';
import { startStripe } from '../../fakes/stripe.ts';
import { accountActivities } from '../../support/data/account-activities.ts';
import { writePayments } from '../../support/data/payments.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { adapterOf, newRefundId } from '../../support/gateways/fixture.ts';

const records = await forFile(startRecords());
const { sql } = records;
const day = '2026-11-20';
const at = (time: string) => new Date(`${day}T${time}Z`);
const money = { amount: 1250, currency: 'eur' };

/** An account of its own at a Stripe of its own, with the records of its payments here. */
const anAccount = async () => {
  const stripe = await forFile(startStripe({ mode: 'live' }));
  const gateway = `stripe-${stripe.url.split(':').at(-1)}`;
  await createGateways(sql).insert({
    slug: gateway,
    driver: 'stripe',
    kind: 'live',
    credentials: '',
  });
  await sql`update gateways set created_at = ${at('00:00:00')} where slug = ${gateway}`;
  const { listBook, askAboutMovements, finishDay } = accountActivities(records, {
    gatewayOf: () =>
      adapterOf('stripe', {
        kind: 'live',
        credentials: { secretKey: 'sk_live_0123456789abcdef', baseUrl: stripe.url },
      }),
  });
  let count = 0;

  const move = (kind: string, subject: string, amount: number, paymentId: string) => sql`
    insert into movements (id, kind, gateway, day, payment_id, refund_id, application, test, order_id, amount, currency,
      occurred_at)
    values (${`${kind}:${subject}`}, ${kind}, ${gateway}, ${day}, ${paymentId},
      ${subject === paymentId ? null : subject}, 'shop', false, 'order-1', ${amount}, 'EUR', ${at('12:00:00')})`;

  return {
    stripe,
    gateway,

    /** @returns the payment, and what Stripe charged for it */
    async payment({ paid = true, fee = 0, state = 'succeeded' } = {}) {
      count += 1;
      const id = newPaymentId();
      const reference = `cs_live_${String(count).padStart(12, 'a')}`;
      const trackingCode = `pi_${gateway.replaceAll('-', '')}${count}`;
      if (paid) await move('payment', id, money.amount, id);
      const status = paid ? ('paid' as const) : ('failed' as const);
      const outcome = paid ? { trackingCode, updatedAt: at('12:00:00') } : {};
      await writePayments(sql, [
        {
          id,
          gateway,
          amount: money.amount,
          status,
          gatewayReference: reference,
          test: false,
          ...outcome,
        },
      ]);
      const entry = newEntry({
        ...{ ...money, paymentId: id, returnUrl: '' },
        state: paid ? 'complete paid succeeded' : 'expired unpaid',
      });
      stripe.book.set(reference, { ...entry, trackingCode, charged: paid ? 1 : 0 });
      const charge = stripe.charge({ ...entry, trackingCode }, { at: at('12:00:00'), fee });
      const { source } = stripe.charges.at(-1)!;
      Object.assign(source as object, { status: state });
      return { id, reference, charge, source: source as object & { status: string } };
    },

    /** A refund here and at Stripe, whose money has come back on both sides. */
    async returnedRefund(
      { id: paymentId, reference }: { id: string; reference: string },
      amount = 600,
    ) {
      const id = newRefundId();
      const made = stripe.add(reference, { amount, refundId: id });
      Object.assign(made, { createdAt: at('13:00:00'), state: 'failed' });
      const times = { succeeded_at: at('13:00:00'), failed_at: at('14:00:00') };
      await sql`
        insert into refunds ${sql({
          ...{ id, payment_id: paymentId, application: 'shop', test: false, order_id: 'order-1' },
          ...{ status: 'failed', failure_code: 'returned_by_bank', amount, currency: 'EUR' },
          ...{ method: 'refund', requested_by: 'application', gateway_reference: made.reference },
          ...{ metadata: '{}', created_at: at('13:00:00'), updated_at: at('14:00:00'), ...times },
        })}`;
      await move('refund', id, -amount, paymentId);
      await move('refund_returned', id, amount, paymentId);
      return made;
    },

    /** Compares the day as the workflow does, and closes it. @returns the movements by kind, and what differs */
    async compare() {
      const run = <R>(work: () => Promise<R>): Promise<R> =>
        new MockActivityEnvironment().run(work);
      const account = { gateway, day };
      await run(() => listBook({ ...account, after: null }));
      let after: string | null = null;
      do after = await run(() => askAboutMovements({ ...account, after }));
      while (after !== null);
      await run(() => finishDay({ ...account, hasList: true }));
      const moved = await sql<{ kind: string; amount: number }[]>`
        select kind, sum(amount)::int as amount from movements where gateway = ${gateway} group by kind`;
      const filter = { gateway, day, state: 'open' as const, application: null, test: null };
      const found = await createAccountDays(sql).listDifferences(filter, 100);
      return {
        booked: Object.fromEntries(moved.map(({ kind, amount }) => [kind, amount])),
        sum: moved.reduce((sum, { amount }) => sum + amount, 0),
        differences: found.map(({ kind, theirName, paymentId, theirAmount }) => ({
          ...{ kind, theirName, paymentId, theirAmount },
        })),
      };
    },
  };
};

describe('a refund that failed counts once', () => {
  // test/unit/gateways/stripe-book.test.ts has the other types.
  it('as the type of a slow method', async () => {
    const { stripe, payment, returnedRefund, compare } = await anAccount();
    stripe.returnAs({ type: 'payment_refund', reporting_category: 'refund' });
    await returnedRefund(await payment());
    expect(await compare()).toEqual({
      booked: { payment: 1250, refund: -600, refund_returned: 600 },
      ...{ sum: 1250, differences: [] },
    });
  });

  it('as an adjustment that only describes the refund', async () => {
    const { stripe, payment, returnedRefund, compare } = await anAccount();
    const { reference } = await returnedRefund(await payment());
    stripe.returnAs(null);
    stripe.moveBalance(
      {
        ...{ type: 'adjustment', reporting_category: 'refund_failure' },
        description: `REFUND FAILURE (${reference})`,
      },
      { amount: 600, at: at('14:00:00') },
    );
    expect(await compare()).toMatchObject({ sum: 1250, differences: [] });
  });
});

describe('money that a bank takes back', () => {
  const reversed = { type: 'payment_reversal', reporting_category: 'payment_reversal' };
  const failed = { type: 'payment_failure_refund', reporting_category: 'charge_failure' };

  it.each([reversed, failed])(
    'is booked for a payment that is paid here: $type',
    async (labels) => {
      const { stripe, payment, compare } = await anAccount();
      const { id, source } = await payment({ fee: 40 });
      stripe.moveBalance(labels, { amount: -1250, source, at: at('15:00:00') });
      expect(await compare()).toEqual({
        booked: { payment: 1250, fee: -40, chargeback: -1250 },
        ...{ sum: -40, differences: [] },
      });
      const [row] = await sql`
      select application, order_id from movements where kind = 'chargeback' and payment_id = ${id}`;
      expect(row).toEqual({ application: 'shop', order_id: 'order-1' });
    },
  );

  it('comes to nothing for a payment that never succeeded', async () => {
    const { stripe, payment, compare } = await anAccount();
    const { source } = await payment({ paid: false, fee: 40, state: 'failed' });
    stripe.moveBalance(failed, { amount: -1250, fee: -40, source, at: at('15:00:00') });
    expect(await compare()).toEqual({ booked: {}, sum: 0, differences: [] });
  });

  it('comes to nothing for a first try that failed, when the second one has paid', async () => {
    const { stripe, payment, compare } = await anAccount();
    const { source } = await payment({ fee: 40 });
    const first = { ...source, id: 'py_first', status: 'failed' };
    stripe.moveBalance(
      { type: 'payment', reporting_category: 'charge' },
      { amount: 1250, fee: 40, source: first, at: at('11:00:00') },
    );
    stripe.moveBalance(failed, { amount: -1250, fee: -40, source: first, at: at('15:00:00') });
    expect(await compare()).toEqual({
      booked: { payment: 1250, fee: -40 },
      ...{ sum: 1210, differences: [] },
    });
  });

  it('takes a payment that is not paid here off the differences', async () => {
    const { stripe, payment, compare } = await anAccount();
    const { id, source } = await payment({ paid: false });
    expect((await compare()).differences).toMatchObject([
      { kind: 'captured_not_paid', paymentId: id },
    ]);
    stripe.moveBalance(failed, { amount: -1250, source: { ...source }, at: at('15:00:00') });
    source.status = 'failed';
    expect(await compare()).toEqual({ booked: {}, sum: 0, differences: [] });
  });

  it('is named where the list does not show which payment it was', async () => {
    const { stripe, payment, compare } = await anAccount();
    const { id, source } = await payment({ state: 'failed' });
    stripe.moveBalance(failed, { amount: -1250, source, at: at('15:00:00') });
    expect((await compare()).differences).toEqual([
      {
        ...{ kind: 'kind_unknown', paymentId: id, theirAmount: -1250 },
        theirName: 'payment_failure_refund (charge_failure)',
      },
    ]);
  });
});

it('books a fee of Stripe with its tax, and what it gave back of one', async () => {
  const { stripe, compare } = await anAccount();
  const fee = { type: 'stripe_fee', reporting_category: 'fee' };
  stripe.moveBalance(fee, { amount: -100, fee: 19, at: at('15:00:00') });
  stripe.moveBalance(fee, { amount: 30, at: at('15:00:01') });
  for (const type of ['stripe_fx_fee', 'tax_fee'])
    stripe.moveBalance({ type, reporting_category: type }, { amount: -5, at: at('15:00:02') });
  expect(await compare()).toEqual({ booked: { fee: -99 }, sum: -99, differences: [] });
});

it('books a dispute, its fee, and its reversal', async () => {
  const { stripe, payment, compare } = await anAccount();
  const { id, source } = await payment();
  const dispute = { ...source, id: 'du_1', object: 'dispute', status: 'lost' };
  const disputed = { type: 'adjustment', reporting_category: 'dispute' };
  stripe.moveBalance(disputed, { amount: -1250, fee: 1500, source: dispute, at: at('15:00:00') });
  stripe.moveBalance(
    { type: 'adjustment', reporting_category: 'dispute_reversal' },
    { amount: 1250, source: dispute, at: at('16:00:00') },
  );
  expect(await compare()).toEqual({
    booked: { payment: 1250, chargeback: -1250, chargeback_returned: 1250, fee: -1500 },
    ...{ sum: -250, differences: [] },
  });
  const of =
    await sql`select amount from movements where payment_id = ${id} and kind like 'chargeback%'`;
  expect(of).toHaveLength(2);
});

it('books payouts, no other money that the owner moves, and names what it does not know', async () => {
  const { stripe, compare } = await anAccount();
  for (const type of ['payout', 'topup', 'reserve_hold', 'reserve_release'])
    stripe.moveBalance({ type, reporting_category: type }, { amount: -500, at: at('15:00:00') });
  const failed = { type: 'payout_failure', reporting_category: 'payout_reversal' };
  stripe.moveBalance(failed, { amount: 500, at: at('15:00:00') });
  stripe.moveBalance(
    { type: 'application_fee', reporting_category: 'platform_earning' },
    { amount: 77, at: at('15:00:01') },
  );
  stripe.moveBalance({ type: 'something_new' }, { amount: -88, at: at('15:00:02') });
  const { booked, differences } = await compare();
  expect(booked).toEqual({ payout: -500, payout_returned: 500 });
  expect(differences).toHaveLength(2);
  expect(differences).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ theirName: 'application_fee (platform_earning)', theirAmount: 77 }),
      expect.objectContaining({ theirName: 'something_new', theirAmount: -88 }),
    ]),
  );
});
