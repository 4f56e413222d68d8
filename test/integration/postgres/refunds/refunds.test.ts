import { describe, expect, it } from 'vitest';
import type { Payment } from '../../../../contract/payment.ts';
import { dayMs } from '../../../../contract/time.ts';
import { createAdminRefunds } from '../../../../postgres/admin/refunds.ts';
import { createRefunds } from '../../../../postgres/refunds/refunds.ts';
import { aRefund } from '../../../support/data/refund-cases.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const refunds = createRefunds(records.sql);

const ownerOf = ({ application, test }: Payment) => ({ application, test });
const sumsOf = async (payment: Payment) => {
  const found = await refunds.getPayment(payment.id, ownerOf(payment));
  return [found?.amountRefunded, found?.amountRefundPending];
};

describe('refunds.insert', () => {
  it('reserves the amount with the refund', async () => {
    const payment = await records.ended('paid');
    const refund = aRefund(payment, { amount: 1250, metadata: '{"z": 1.50}' });
    expect(await refunds.insert(refund)).toMatchObject({
      id: refund.id,
      orderId: payment.orderId,
      currency: 'EUR',
      metadata: '{"z": 1.50}',
    });
    expect(await sumsOf(payment)).toEqual([0, 1250]);
    expect(await refunds.get(refund.id, ownerOf(payment))).toMatchObject({ stage: 'reserved' });
  });

  it('makes one of 20 refunds of 600 out of 1,250 twice, and never a third', async () => {
    const payment = await records.ended('paid');
    const made = await Promise.all(
      Array.from({ length: 20 }, () => refunds.insert(aRefund(payment, { amount: 600 }))),
    );
    expect(made.filter(Boolean)).toHaveLength(2);
    expect(await sumsOf(payment)).toEqual([0, 1200]);
    expect(await refunds.insert(aRefund(payment, { amount: 51 }))).toBeUndefined();
    expect(await refunds.insert(aRefund(payment, { amount: 50 }))).toBeDefined();
  });

  it('makes one refund of an id, however often it is inserted at once', async () => {
    const payment = await records.ended('paid');
    const refund = aRefund(payment, { amount: 100 });
    const made = await Promise.all(Array.from({ length: 10 }, () => refunds.insert(refund)));
    expect(made.filter((each) => each === 'exists')).toHaveLength(9);
    expect(await sumsOf(payment)).toEqual([0, 100]);
  });

  it('refuses another amount than the caller believes to be left', async () => {
    const payment = await records.ended('paid');
    expect(await refunds.insert(aRefund(payment, { onlyIfLeft: 1249 }))).toBeUndefined();
    expect(await refunds.insert(aRefund(payment, { onlyIfLeft: 1250 }))).toBeDefined();
  });

  it('makes one at a time where the gateway takes no more', async () => {
    const payment = await records.ended('paid');
    const make = () => refunds.insert(aRefund(payment, { amount: 10, oneAtATime: true }));
    const made = await Promise.all([make(), make(), make()]);
    expect(made.filter(Boolean)).toHaveLength(1);
  });

  it('refunds nothing that is not paid, or is of another owner', async () => {
    for (const payment of [await records.sent(), await records.ended('expired')])
      expect(await refunds.insert(aRefund(payment))).toBeUndefined();
    const paid = await records.ended('paid');
    for (const other of [{ application: 'quiet' }, { test: false }])
      expect(await refunds.insert(aRefund(paid, other))).toBeUndefined();
    expect(await sumsOf(paid)).toEqual([0, 0]);
  });

  it('reserves no more than the limit of the day, also when refunds of many payments come at once', async () => {
    await createAdminRefunds(records.sql).setLimit('shop', 'EUR', 1_200);
    const payments = await Promise.all(Array.from({ length: 10 }, () => records.ended('paid')));
    const made = await Promise.all(payments.map((payment) => refunds.insert(aRefund(payment))));
    expect(made.filter((one) => typeof one === 'object')).toHaveLength(2);
    expect(made.filter((one) => one === 'over_limit')).toHaveLength(8);
    const owner = { application: 'shop', test: true };
    expect(await refunds.getLimit(owner, 'EUR')).toEqual({ perDay: 1_200, used: 1_000 });
    const sums = await Promise.all(payments.map(sumsOf));
    expect(sums.filter(([, pending]) => pending !== 0)).toHaveLength(2);
    // Admins have no limit, and a new day begins at nothing.
    const other = await records.ended('paid');
    expect(await refunds.insert(aRefund(other, { requestedBy: 'admin' }))).toMatchObject({
      amount: 500,
    });
    // A transaction that began before midnight comes second, and the day does not go back.
    await records.sql`update refund_limits set day = day + 1`;
    expect(await refunds.insert(aRefund(await records.ended('paid')))).toBe('over_limit');
    expect(await refunds.getLimit(owner, 'EUR')).toEqual({ perDay: 1_200, used: 1_000 });
    await records.sql`update refund_limits set day = day - 2`;
    expect(await refunds.insert(aRefund(await records.ended('paid')))).toMatchObject({
      amount: 500,
    });
    // A limit in one currency is one of nothing in the others.
    const usd = await records.ended('paid', { currency: 'USD' });
    expect(await refunds.insert(aRefund(usd))).toBe('over_limit');
    expect(await sumsOf(usd)).toEqual([0, 0]);
    await createAdminRefunds(records.sql).setLimit('shop', 'USD', 500);
    expect(await refunds.insert(aRefund(usd))).toMatchObject({ currency: 'USD' });
    await createAdminRefunds(records.sql).setLimit('shop', 'USD', null);
    await createAdminRefunds(records.sql).setLimit('shop', 'EUR', null);
    expect(await refunds.getLimit(owner, 'EUR')).toBeUndefined();
  });
});

describe('a clock that runs ahead', () => {
  const ahead = (days: number) => new Date(Date.now() + days * dayMs);
  const limit = (perDay: number | null) =>
    createAdminRefunds(records.sql).setLimit('shop', 'EUR', perDay);
  const owner = { application: 'shop', test: true };

  it('begins no day of a limit: neither that of Postgres nor that of who asks', async () => {
    await limit(700);
    expect(await refunds.insert(aRefund(await records.ended('paid')))).toBeDefined();
    for (const createdAt of [ahead(1), ahead(40)])
      expect(await refunds.insert(aRefund(await records.ended('paid'), { createdAt }))).toBe(
        'over_limit',
      );
    // As if Postgres had been a day behind until now: it is a day ahead of who asks.
    await records.sql`update refund_limits set day = day - 1`;
    expect(
      await refunds.insert(aRefund(await records.ended('paid'), { createdAt: ahead(-1) })),
    ).toBe('over_limit');
    expect(await refunds.insert(aRefund(await records.ended('paid')))).toBeDefined();
    expect(await refunds.getLimit(owner, 'EUR')).toMatchObject({ used: 500 });
    await limit(null);
  });
});

describe('refunds.requestCancel', () => {
  it('calls off what the application asked for, and not what an admin has given back', async () => {
    const payment = await records.ended('paid');
    const own = aRefund(payment, { amount: 100 });
    const recorded = aRefund(payment, { amount: 100, method: 'recorded', requestedBy: 'admin' });
    for (const refund of [own, recorded]) await refunds.insert(refund);
    expect(await refunds.requestCancel(own.id)).toBe(true);
    expect(await refunds.requestCancel(recorded.id)).toBe(false);
  });

  it('leaves one to the person who must decide about it', async () => {
    const refund = aRefund(await records.ended('paid'));
    await refunds.insert(refund);
    await records.sql`update refunds set stage = 'by_hand', due_at = null where id = ${refund.id}`;
    expect(await refunds.requestCancel(refund.id)).toBe(false);
  });
});
