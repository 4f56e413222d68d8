import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResetFailed, type Resets } from '../../../operations/resets.ts';
import { newPaymentId } from '../../../contract/ids.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import type { Records } from '../../support/data/records.ts';
import { startRecords } from '../../support/data/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const anExhausted = async (application = 'shop'): Promise<string> => {
  const { id } = await records.ended('paid', { application });
  await records.sql`
    update deliveries set status = 'exhausted', exhausted_by_run = 'r', next_attempt_at = null
    where payment_id = ${id}`;
  return id;
};

const deliveryOf = async (id: string) => {
  const [row] = await records.sql<{ status: string; round: number }[]>`
    select status, round from deliveries where payment_id = ${id}`;
  return row;
};

const deliveriesWith = (toDelivery: Resets['toDelivery']) =>
  operationsOn(records.sql, { resets: async () => ({ toDelivery }) }).deliveries;

const logOf = (id: string) =>
  operationsOn(records.sql).auditLog({ subject: `payment:${id}`, limit: 10 });

describe('retrigger', () => {
  it('begins a new round, resets the workflow and writes an audit record', async () => {
    const id = await anExhausted();
    const reset: string[] = [];
    const deliveries = deliveriesWith(async (paymentId) => {
      reset.push(paymentId);
      return 'reset';
    });
    expect(await deliveries.retrigger(id, 'receiver is back')).toBe('reset');
    expect(reset).toEqual([id]);
    expect(await deliveryOf(id)).toEqual({ status: 'pending', round: 2 });
    expect(await logOf(id)).toMatchObject([
      {
        actor: 'ada',
        action: 'delivery.retrigger',
        reason: 'receiver is back',
        before: { delivery: 'exhausted' },
        after: { delivery: 'pending', workflow: 'reset' },
      },
    ]);
  });

  it('begins one round when two admins call it at once', async () => {
    const id = await anExhausted();
    let resets = 0;
    const deliveries = deliveriesWith(async () => {
      resets += 1;
      return 'reset';
    });
    const both = await Promise.allSettled([
      deliveries.retrigger(id, null),
      deliveries.retrigger(id, null),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { message: expect.stringContaining('is not exhausted') },
    });
    expect(resets).toBe(1);
    expect(await deliveryOf(id)).toEqual({ status: 'pending', round: 2 });
  });

  it('changes nothing when the workflow cannot be reset', async () => {
    const id = await anExhausted();
    const deliveries = deliveriesWith(() => Promise.reject(new ResetFailed('Temporal is away')));
    await expect(deliveries.retrigger(id, null)).rejects.toThrow('Temporal is away');
    expect(await deliveryOf(id)).toEqual({ status: 'exhausted', round: 1 });
    expect(await logOf(id)).toEqual([]);
  });

  it('refuses a delivery that is not exhausted, without calling Temporal', async () => {
    const resets = () => Promise.reject(new Error('Temporal is not called'));
    const { deliveries } = operationsOn(records.sql, { resets });
    const pending = await records.ended('failed');
    const none = await records.ended('paid', { application: 'quiet' });
    const open = await records.opened();
    const delivered = await records.ended('cancelled');
    await records.sql`
      update deliveries set status = 'delivered', next_attempt_at = null
      where payment_id = ${delivered.id}`;
    const unknown = newPaymentId();
    for (const [id, why] of [
      [pending.id, 'is not exhausted: its attempts go on'],
      [none.id, 'had no webhook URL when the payment ended'],
      [open.id, 'has not ended yet'],
      [delivered.id, 'is already delivered'],
      [unknown, 'There is no payment'],
    ] as const)
      await expect(deliveries.retrigger(id, null)).rejects.toThrow(why);
    expect(await deliveryOf(none.id)).toMatchObject({ status: 'none' });
  });

  it('continues a list after a refusal', async () => {
    const [one, other] = [await anExhausted(), await anExhausted()];
    const pending = await records.ended('failed');
    const results = await deliveriesWith(async () => 'no_history').retriggerMany(
      [one, pending.id, other],
      { perSecond: 100, reason: null },
    );
    expect(results).toMatchObject([
      { id: one, result: 'no_history' },
      { id: pending.id, result: 'refused', why: expect.stringContaining('not exhausted') },
      { id: other, result: 'no_history' },
    ]);
  });

  it('re-triggers all of one application at a limited rate, with progress', async () => {
    const mine: string[] = [];
    for (let one = 0; one < 12; one += 1) mine.push(await anExhausted('quiet-2'));
    const theirs = await anExhausted();
    const progress: number[] = [];
    const began = performance.now();
    const deliveries = deliveriesWith(async () => 'reset');
    const results = await deliveries.retriggerAll('quiet-2', {
      perSecond: 20,
      reason: null,
      onProgress: ({ done, total }) => {
        expect(total).toBe(12);
        progress.push(done);
      },
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(11 * 50 - 5);
    expect(results.map(({ id }) => id).toSorted()).toEqual(mine.toSorted());
    expect(progress).toEqual(mine.map((_, index) => index + 1));
    expect(await deliveryOf(theirs)).toMatchObject({ status: 'exhausted' });
    expect(await deliveries.listExhausted('quiet-2', 1)).toEqual([]);
  });

  it('keeps the rate for deliveries that become exhausted while it runs', async () => {
    for (let one = 0; one < 100; one += 1) await anExhausted('quiet-2');
    const late: string[] = [];
    const began = performance.now();
    const results = await deliveriesWith(async () => {
      while (late.length < 40) late.push(await anExhausted('quiet-2'));
      return 'reset';
    }).retriggerAll('quiet-2', { perSecond: 50, reason: null });
    expect(results).toHaveLength(140);
    // A timer may fire up to a millisecond early.
    expect(performance.now() - began).toBeGreaterThanOrEqual(139 * 19);
  });

  it('stops after ten failed resets in a row, and reports the rest as not tried', async () => {
    for (let one = 0; one < 15; one += 1) await anExhausted('quiet-2');
    let resets = 0;
    const notTried: number[] = [];
    const results = await deliveriesWith(() => {
      resets += 1;
      return Promise.reject(new ResetFailed('Temporal is away'));
    }).retriggerAll('quiet-2', {
      perSecond: 100,
      reason: null,
      onStop: (count) => notTried.push(count),
    });
    expect(results).toHaveLength(10);
    expect(resets).toBe(10);
    expect(notTried).toEqual([5]);
  });

  it('does not stop after refusals that are not failed resets', async () => {
    const pending: string[] = [];
    for (let one = 0; one < 12; one += 1) pending.push((await records.ended('failed')).id);
    const last = await anExhausted();
    const results = await deliveriesWith(async () => 'reset').retriggerMany([...pending, last], {
      perSecond: 100,
      reason: null,
      onStop: () => expect.unreachable(),
    });
    expect(results).toHaveLength(13);
    expect(results.at(-1)).toEqual({ id: last, result: 'reset' });
  });

  beforeAll(async () => {
    await records.sql`
      insert into applications (slug, default_gateway, callback_urls, webhook_url)
      values ('quiet-2', 'sandbox', '{https://a.example/}', 'https://a.example/hook')`;
  });
});
