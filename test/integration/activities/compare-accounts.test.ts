import { setTimeout as sleep } from 'node:timers/promises';
import { accountDifferences } from '../../../contract/account-difference.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../contract/ids.ts';
import type { MovementKind } from '../../../contract/movement.ts';
import type { Status } from '../../../contract/status.ts';
import type { AdapterOf } from '../../../gateways/adapters.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createAccountDays } from '../../../postgres/accounts/days.ts';
import { newEntry } from '../../fakes/server.ts';
import { accountActivities, startLiveStripe } from '../../support/data/account-activities.ts';
import { writePayments } from '../../support/data/payments.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { newRefundId } from '../../support/gateways/fixture.ts';
import {
  aGateway,
  confirmed,
  readableLogger,
  silence,
} from '../../support/service/scripted-gateway.ts';

const gateway = 'stripe-in-tehran';
const day = '2026-11-20';
/** A time of that day in Tehran, where it begins at 20:30 UTC of the day before. */
const at = (time: string) => new Date(`${day}T${time}+03:30`);
const atOtherDay = (date: string, time: string) => new Date(`${date}T${time}+03:30`);

const records = await forFile(startRecords());
const { stripe, newAdapter } = await startLiveStripe();
await records.addGateway('stripe', { slug: gateway });
await records.sql`
  update gateways set created_at = '2026-11-19T12:00:00Z', time_zone = 'Asia/Tehran', fee_basis_points = 140,
    fee_fixed = 25
  where slug = ${gateway}`;

const { logger, alerts } = readableLogger();
const activities = (gatewayOf: AdapterOf = newAdapter) =>
  accountActivities(records, {
    // The 20th is near enough to know the balance at its end, and the 19th is not.
    now: () => atOtherDay('2026-11-22', '12:00:00'),
    gatewayOf,
    runningWorkflows: async (ids) => new Set(ids.slice(0, 1)),
    logger,
  });
const run = <R>(work: () => Promise<R>): Promise<R> =>
  new MockActivityEnvironment({ attempt: 20 }).run(work);

/** Does what the workflow does. */
const compare = async (of = day) => {
  const { listBook, askAboutMovements, finishDay } = activities();
  const account = { gateway, day: of };
  let after: string | null = null;
  do ({ next: after } = await run(() => listBook({ ...account, after })));
  while (after !== null);
  do after = await run(() => askAboutMovements({ ...account, after }));
  while (after !== null);
  return run(() => finishDay({ ...account, hasList: true }));
};

interface Planted {
  /** When it was paid here; null: it was not. */
  ours?: Date | null;
  /** When Stripe took the money; null: it did not. */
  theirs?: Date | null;
  status?: Status;
  amount?: number;
  theirAmount?: number;
  theirCurrency?: string;
  fee?: number;
  /** The day of the movement. */
  on?: string;
  kind?: MovementKind;
}

let count = 0;
const feeOf = (amount: number) => Math.round(amount * 0.014) + 25;

/** Records a movement of a day. The trigger of the payment or refund finds it recorded. */
const moved = async (
  kind: MovementKind,
  of: { paymentId: string; refundId?: string },
  { amount, time, on = day }: { amount: number; time: Date; on?: string },
) => {
  const { paymentId, refundId = null } = of;
  await records.sql`
    insert into movements (id, kind, gateway, day, payment_id, refund_id, application, test, order_id, amount, currency,
      occurred_at)
    values (${`${kind}:${refundId ?? paymentId}`}, ${kind}, ${gateway}, ${on}, ${paymentId}, ${refundId}, 'shop', false,
      'order-1', ${amount}, 'EUR', ${time})`;
};

/** A payment here, at Stripe, or on both sides. */
const plant = async ({
  ours = at('12:00:00'),
  theirs = ours,
  status = ours ? 'paid' : 'expired',
  amount = 1250,
  theirAmount = amount,
  theirCurrency = 'eur',
  fee = feeOf(theirAmount),
  on,
  kind = 'payment',
}: Planted = {}) => {
  count += 1;
  const id = newPaymentId();
  const reference = `cs_live_${String(count).padStart(12, 'a')}`;
  const trackingCode = `pi_${count}`;
  if (ours) await moved(kind, { paymentId: id }, { amount, time: ours, ...(on && { on }) });
  await writePayments(records.sql, [
    {
      ...{ id, gateway, amount, status, gatewayReference: reference, test: false },
      ...(status === 'paid' && { trackingCode, updatedAt: ours ?? at('12:00:00') }),
    },
  ]);
  const entry = newEntry({
    ...{ amount: theirAmount, currency: theirCurrency, paymentId: id, returnUrl: '' },
    state: theirs ? 'complete paid succeeded' : 'expired unpaid',
  });
  stripe.book.set(reference, { ...entry, trackingCode, charged: theirs ? 1 : 0 });
  if (theirs) stripe.charge({ ...entry, trackingCode }, { at: theirs, fee });
  return { id, reference, trackingCode };
};

const plantRefund = async ({
  ours = 500,
  theirs = ours,
  returned = false,
  of,
}: {
  /** Null: not on this side. */
  ours?: number | null;
  theirs?: number | null;
  returned?: boolean;
  of?: { id: string; reference: string };
}) => {
  const { id: paymentId, reference } = of ?? (await plant());
  const id = newRefundId();
  const time = at('13:00:00');
  if (ours !== null) {
    await moved('refund', { paymentId, refundId: id }, { amount: -ours, time });
    await records.sql`
      insert into refunds (id, payment_id, application, test, order_id, status, amount, currency, method, requested_by,
        asked_by, metadata, succeeded_at, created_at, updated_at)
      values (${id}, ${paymentId}, 'shop', false, 'order-1', 'succeeded', ${ours}, 'EUR', 'refund', 'admin', 'ada', '{}',
        ${time}, ${time}, ${time})`;
  }
  if (theirs === null) return id;
  const made = stripe.add(reference, { amount: theirs, refundId: ours === null ? null : id });
  Object.assign(made, { createdAt: time, ...(returned && { state: 'failed' }) });
  return id;
};

const plantLate = async ({
  ours,
  theirs,
  returned = false,
}: {
  ours: boolean;
  theirs: boolean;
  returned?: boolean;
}) => {
  const { id, reference } = await plant({ kind: 'late_payment', status: 'expired' });
  if (ours) {
    await moved('late_reversal', { paymentId: id }, { amount: -1250, time: at('12:30:00') });
    await records.sql`insert into late_payments (payment_id, found_at) values (${id}, ${at('12:00:00')})`;
  }
  if (!theirs) return reference;
  const made = stripe.add(reference, { amount: 1250 });
  Object.assign(made, {
    ...{ createdAt: at('12:30:00'), claimed: id },
    ...(returned && { state: 'failed' }),
  });
  return reference;
};

const reserve = { type: 'reserve', reporting_category: 'reserve' };

/** Of every kind, on the side that has it. */
const plantAll = async () => {
  const charge = { amount: 990, currency: 'eur', trackingCode: 'pi_foreign', paymentId: '' };
  // Its fee is no second difference.
  stripe.charge(charge, { at: at('00:10:00'), fee: feeOf(990) + 9 });
  // A restored Postgres has lost it; Stripe carries our id.
  const lost = { ...charge, trackingCode: 'pi_lost', paymentId: newPaymentId() };
  stripe.charge(lost, { at: at('23:50:00'), fee: feeOf(990) });
  await plant({ ours: null, theirs: at('00:00:01') });
  await plant({ ours: null, theirs: at('23:59:58'), status: 'processing' });
  const twice = await plant({ ours: at('00:05:00') });
  stripe.charge(
    { amount: 1250, currency: 'eur', trackingCode: twice.trackingCode, paymentId: twice.id },
    { at: at('00:06:00'), fee: feeOf(1250) },
  );
  await plant({ theirs: null });
  await plant({ theirs: null, ours: at('23:59:59') });
  await plant({ theirAmount: 1249 });
  await plant({ theirCurrency: 'usd' });
  await plant({ ours: atOtherDay('2026-11-18', '12:00:00'), theirs: at('12:00:01') });
  await plantRefund({ ours: null, theirs: 300 });
  const foreign = 'cs_live_foreign';
  const entry = newEntry({ ...charge, returnUrl: '', state: 'complete paid succeeded' });
  stripe.book.set(foreign, { ...entry, trackingCode: 'pi_of_somebody' });
  Object.assign(stripe.add(foreign, { amount: 100 }), { createdAt: at('00:00:00') });
  await plantRefund({ theirs: null });
  const repeated = await plant();
  const refundId = await plantRefund({ of: repeated });
  Object.assign(stripe.add(repeated.reference, { amount: 500, refundId }), {
    createdAt: at('13:00:01'),
  });
  await plantRefund({ ours: 500, theirs: 400 });
  await plantRefund({ returned: true });
  // Somebody has copied the id of another payment's refund.
  const copied = await plantRefund({});
  Object.assign(stripe.add((await plant()).reference, { amount: 500, refundId: copied }), {
    createdAt: at('13:00:00'),
  });
  await plantLate({ ours: false, theirs: true });
  // Late money went back twice, and once in vain: that comes to nothing.
  const late = await plantLate({ ours: true, theirs: true });
  Object.assign(stripe.add(late, { amount: 1250 }), { createdAt: at('12:40:00') });
  const inVain = await plantLate({ ours: false, theirs: true, returned: true });
  Object.assign(stripe.add(inVain, { amount: 1250 }), {
    ...{ createdAt: at('12:50:00'), state: 'failed' },
  });
  await plantLate({ ours: true, theirs: false });
  await plant({ fee: feeOf(1250) + 2 });
  const unknown = await plant({ theirs: null });
  stripe.book.delete(unknown.reference);
  stripe.moveBalance(reserve, { amount: -50, at: at('14:00:00') });
  await records.sql`
    insert into movements (id, kind, gateway, day, test, amount, currency, occurred_at)
    values (${`payout:${gateway}:po_1`}, 'payout', ${gateway}, ${day}, false, -500, 'EUR', ${at('12:00:00')})`;
  await records.sql`
    insert into payouts (gateway, id, amount, currency, status, created_at, differs, differs_on)
    values (${gateway}, 'po_1', 400, 'EUR', 'paid', ${at('12:00:00')}, '{sum}', ${day})`;
  // The evening of the 19th is reported, and the gateway has a cent that no line shows.
  const reported = 1250 - feeOf(1250);
  await records.sql`
    insert into account_balances (gateway, day, currency, reported) values (${gateway}, '2026-11-19', 'EUR', ${reported})`;
  stripe.before.set('eur', 1);
};

const differences = async (of = day, account = gateway) => {
  const filter = { gateway: account, day: of, state: null, application: null, test: null };
  return createAccountDays(records.sql).listDifferences(filter, 1_000);
};
const kindsOf = (found: { kind: string; state: string }[], state = 'open') =>
  found
    .filter((each) => each.state === state)
    .map(({ kind }) => kind)
    .toSorted();

const planted = [
  ...['amount_differs', 'amount_differs', 'balance_differs'],
  ...['captured_not_paid', 'captured_not_paid', 'captured_twice'],
  ...['captured_unknown', 'captured_unknown', 'currency_differs', 'day_differs', 'fee_differs'],
  ...['kind_unknown', 'not_answered', 'payment_missing', 'payment_missing', 'payout_differs'],
  ...['refund_missing', 'refund_unknown', 'refund_unknown', 'refund_unknown', 'refund_unknown'],
  ...['refunded_twice', 'refunded_twice'],
  ...['reversal_missing', 'reversal_unknown'],
];

describe('a day of an account in another time zone', () => {
  beforeAll(async () => {
    // 110 pairs fill more than a page of Stripe's list.
    for (let n = 0; n < 110; n += 1) await plant({ ours: at('00:00:00'), theirs: at('00:00:00') });
    // Each side has it on another day.
    await plant({ ours: at('00:00:02'), theirs: atOtherDay('2026-11-19', '23:59:58') });
    await plant({
      ours: atOtherDay('2026-11-21', '00:00:02'),
      theirs: at('23:59:58'),
      on: '2026-11-21',
    });
    await plantRefund({});
    await plantLate({ ours: true, theirs: true });
    await plantAll();
  });

  it('names each planted difference, which are of every kind, and nothing else', async () => {
    expect([...new Set(planted)]).toEqual(Object.keys(accountDifferences).toSorted());
    expect(await compare()).toBe(planted.length);
    const found = await differences();
    expect(kindsOf(found)).toEqual(planted);
    expect(found.find(({ kind }) => kind === 'fee_differs')).toMatchObject({
      ourAmount: feeOf(1250),
      theirAmount: feeOf(1250) + 2,
    });
    const lost = found.filter(({ kind, paymentId }) => kind === 'captured_unknown' && paymentId);
    expect(lost).toMatchObject([{ theirAmount: 990, ourAmount: null, application: null }]);
    expect(found.filter(({ workflowRuns }) => workflowRuns)).toHaveLength(1);
    expect(alerts()).toEqual(['unknown_money']);
  });

  it('finds the same again, whatever was done before', async () => {
    const before = await differences();
    const { listBook } = activities();
    await run(() => listBook({ gateway, day, after: null }));
    expect(await compare()).toBe(planted.length);
    expect(await differences()).toEqual(before);
  });

  it('marks what is no longer found as mended, and keeps an explanation', async () => {
    const [first, second] = (await differences()).filter(({ kind }) => kind === 'payment_missing');
    await createAccountDays(records.sql).setState(first!.id, 'explained', 'paid at the till');
    // Stripe shows the other one after all.
    const { book } = stripe;
    const [, entry] = [...book].find(([, { paymentId }]) => paymentId === second!.paymentId)!;
    Object.assign(entry, { state: 'complete paid succeeded', charged: 1 });
    expect(await compare()).toBe(planted.length - 2);
    const found = await differences();
    expect(kindsOf(found, 'mended')).toEqual(['payment_missing']);
    expect(found.find(({ id }) => id === first!.id)).toMatchObject({
      state: 'explained',
      reason: 'paid at the till',
    });
  });

  it('forgets an entry that has gone from the list', async () => {
    const before = await compare();
    const reference = stripe.moveBalance(reserve, { amount: -5, at: at('15:00:00') });
    expect(await compare()).toBe(before + 1);
    stripe.takeBack(reference);
    expect(await compare()).toBe(before);
    expect(await records.sql`select from gateway_entries where id = ${reference}`).toEqual([]);
  });

  it('closes the days in their order', async () => {
    const days = createAccountDays(records.sql);
    const closed = async () => {
      const range = { gateway, from: '2026-11-19', to: '2026-11-21' };
      const all = await days.list(range, { application: null, test: null });
      return all.map((each) => [each.day, each.closedAt !== null, each.movements]);
    };
    // The 20th was compared, and the account's first day was not.
    expect(await closed()).toEqual([[day, false, null]]);
    await compare('2026-11-19');
    await compare();
    const [, twentieth] = await closed();
    expect(twentieth).toEqual([day, true, expect.any(Number)]);
    const [fees] = await records.sql`
      select count(*)::int as count from movements where gateway = ${gateway} and day = ${day} and kind = 'fee'`;
    const [from, to] = [at('00:00:00'), at('23:59:59')].map((time) => time.getTime() / 1000);
    const charges = stripe.charges.filter(({ created }) => created >= from! && created <= to!);
    expect(fees).toEqual({ count: charges.length });
  });

  it('takes no movement for a closed day, and changes none', async () => {
    const { id } = await plant({ ours: null, theirs: null });
    await expect(
      moved('payment', { paymentId: id }, { amount: 1, time: at('12:00:00') }),
    ).rejects.toThrow('the day is closed');
    await expect(
      moved('payment', { paymentId: id }, { amount: 1, time: at('12:00:00'), on: '2026-11-01' }),
    ).rejects.toThrow('the day is closed');
    await expect(records.sql`update movements set amount = 1`).rejects.toThrow('append-only');
    await expect(records.sql`delete from account_days`).rejects.toThrow('append-only');
  });

  it('proves that a closed day is as it was', async () => {
    const verify = async () => {
      const result = [];
      for await (const each of createAccountDays(records.sql).verify())
        result.push([each.day, each.whole]);
      return result;
    };
    expect(await verify()).toEqual([
      ['2026-11-19', true],
      [day, true],
    ]);
    const { sql } = records;
    await sql`alter table movements disable trigger movements__day`;
    const { id } = await plant({ ours: null, theirs: null });
    await moved(
      'payment',
      { paymentId: id },
      { amount: 1, time: at('12:00:00'), on: '2026-11-01' },
    );
    expect(await verify()).toEqual([
      ['2026-11-19', false],
      [day, true],
    ]);
    await sql`alter table movements disable trigger movements__append_only`;
    await sql`delete from movements where day = '2026-11-01'`;
    await sql`update movements set amount = amount + 1 where id = (select min(id) from movements where day = ${day})`;
    expect(await verify()).toEqual([
      ['2026-11-19', true],
      [day, false],
    ]);
  });
});

describe('a gateway without a list', () => {
  const other = 'asked-one-by-one';
  const paidAt = new Date('2026-11-20T12:00:00Z');
  const paid = async () => {
    const id = newPaymentId();
    await records.sql`
      insert into movements (id, kind, gateway, day, payment_id, application, test, order_id, amount, currency, occurred_at)
      values (${`payment:${id}`}, 'payment', ${other}, ${day}, ${id}, 'shop', false, 'order-1', 1250, 'EUR', ${paidAt})`;
    await writePayments(records.sql, [
      {
        id,
        gateway: other,
        status: 'paid',
        updatedAt: paidAt,
        test: false,
        gatewayReference: `REF_${id}`,
      },
    ]);
    return id;
  };
  beforeAll(() => records.addGateway('zarinpal', { slug: other }));

  it('is asked about each movement, a few at a time', async () => {
    const answers = new Map<string, GatewayStatus>();
    for (const status of [
      confirmed(),
      confirmed({ amount: 1249 }),
      confirmed({ amount: 1249.5 }),
      { state: 'expired' } as const,
      { state: 'processing' } as const,
      // Paid, and all of it was given back since.
      { state: 'failed', failureCode: 'payment_reversed', code: null, message: null } as const,
      ...Array.from({ length: 3 }, () => confirmed()),
    ])
      answers.set(await paid(), status);
    let atOnce = 0;
    let most = 0;
    const { gatewayOf } = aGateway({
      async inquire({ id }) {
        most = Math.max(most, (atOnce += 1));
        await sleep(20);
        atOnce -= 1;
        return answers.get(id) ?? { state: 'waiting' };
      },
    });
    const { listBook, askAboutMovements, finishDay } = activities(gatewayOf);
    const account = { gateway: other, day };
    expect(await run(() => listBook({ ...account, after: null }))).toEqual({
      hasList: false,
      next: null,
    });
    expect(await run(() => askAboutMovements({ ...account, after: null }))).toBeNull();
    expect(most).toBeLessThanOrEqual(5);
    expect(await run(() => finishDay({ ...account, hasList: false }))).toBe(4);
    const found = await differences(day, other);
    expect(kindsOf(found)).toEqual([
      'amount_differs',
      'not_answered',
      'not_answered',
      'payment_missing',
    ]);
  });

  it('that does not answer at all is asked again, and nothing is a difference', async () => {
    await records.sql`delete from gateway_entries where gateway = ${other}`;
    const { gatewayOf } = aGateway({ inquire: silence });
    const { askAboutMovements } = activities(gatewayOf);
    const asking = new MockActivityEnvironment({ attempt: 1 }).run(() =>
      askAboutMovements({ gateway: other, day, after: null }),
    );
    await expect(asking).rejects.toThrow('gave no usable answer');
    expect(await records.sql`select from gateway_entries where gateway = ${other}`).toEqual([]);
  });
});
