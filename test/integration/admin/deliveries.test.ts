import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResetFailed, type Resets } from '../../../admin/resets.ts';
import { newPaymentId } from '../../../contract/ids.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import { operationsOn } from '../../support/operations.ts';
import type { Records } from '../../support/records.ts';
import { withOutcome, noAnswer, startRecords } from '../../support/records.ts';

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

describe('re-triggering', () => {
  it('begins a new round, resets the workflow and is logged', async () => {
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

  it('FS-28: two admins at once cause one', async () => {
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

  it('stays exhausted, without a record, when the workflow could not be reset', async () => {
    const id = await anExhausted();
    const deliveries = deliveriesWith(() => Promise.reject(new ResetFailed('Temporal is away')));
    await expect(deliveries.retrigger(id, null)).rejects.toThrow('Temporal is away');
    expect(await deliveryOf(id)).toEqual({ status: 'exhausted', round: 1 });
    expect(await logOf(id)).toEqual([]);
  });

  it('FS-28: is refused with a clear message for whatever is not exhausted', async () => {
    const resets = () => Promise.reject(new Error('Temporal must not be asked, nor be there'));
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
      [pending.id, 'is not exhausted: its attempts are going on'],
      [none.id, 'had no webhook URL when the payment ended'],
      [open.id, 'has not ended yet'],
      [delivered.id, 'is delivered'],
      [unknown, 'There is no payment'],
    ] as const)
      await expect(deliveries.retrigger(id, null)).rejects.toThrow(why);
    // It stays `none`, whatever is asked for.
    expect(await deliveryOf(none.id)).toMatchObject({ status: 'none' });
  });

  it('a list: each by itself, and what is refused does not stop the others', async () => {
    const [one, other] = [await anExhausted(), await anExhausted()];
    const pending = await records.ended('failed');
    const results = await deliveriesWith(async () => 'left').retriggerMany(
      [one, pending.id, other],
      { perSecond: 100, reason: null },
    );
    expect(results).toMatchObject([
      { id: one, done: 'left' },
      { id: pending.id, done: 'refused', why: expect.stringContaining('not exhausted') },
      { id: other, done: 'left' },
    ]);
  });

  it("everything of an application at a bounded rate, with progress, and no other's", async () => {
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

  it('goes no faster over what becomes exhausted meanwhile', async () => {
    for (let one = 0; one < 100; one += 1) await anExhausted('quiet-2');
    const late: string[] = [];
    const began = performance.now();
    const results = await deliveriesWith(async () => {
      while (late.length < 40) late.push(await anExhausted('quiet-2'));
      return 'reset';
    }).retriggerAll('quiet-2', { perSecond: 50, reason: null });
    expect(results).toHaveLength(140);
    // A timer may fire within the millisecond before.
    expect(performance.now() - began).toBeGreaterThanOrEqual(139 * 19);
  });

  it('stops after ten failed resets in a row, and says so: Temporal is away for the next one too', async () => {
    for (let one = 0; one < 15; one += 1) await anExhausted('quiet-2');
    let asked = 0;
    const notTried: number[] = [];
    const results = await deliveriesWith(() => {
      asked += 1;
      return Promise.reject(new ResetFailed('Temporal is away'));
    }).retriggerAll('quiet-2', {
      ...{ perSecond: 100, reason: null },
      onStop: (count) => notTried.push(count),
    });
    expect(results).toHaveLength(10);
    expect(asked).toBe(10);
    expect(notTried).toEqual([5]);
  });

  it('does not stop at those for which nothing is to be done, however many', async () => {
    const pending: string[] = [];
    for (let one = 0; one < 12; one += 1) pending.push((await records.ended('failed')).id);
    const last = await anExhausted();
    const results = await deliveriesWith(async () => 'reset').retriggerMany([...pending, last], {
      ...{ perSecond: 100, reason: null },
      onStop: () => expect.unreachable(),
    });
    expect(results).toHaveLength(13);
    expect(results.at(-1)).toEqual({ id: last, done: 'reset' });
  });

  beforeAll(async () => {
    await records.sql`
      insert into applications (slug, default_gateway, callback_urls, webhook_url)
      values ('quiet-2', 'sandbox', '{https://a.example/}', 'https://a.example/hook')`;
  });
});

describe('payments', () => {
  it('are found by id, order, application, status and delivery', async () => {
    const { payments, deliveries } = operationsOn(records.sql);
    const all = { id: null, orderId: null, application: null, status: null, delivery: null };
    const { id } = await records.ended('failed', { orderId: 'order-find' });
    for (const filter of [{ id }, { orderId: 'order-find' }, { id, status: 'failed' as const }])
      expect(await payments.find({ ...all, ...filter }, 10)).toMatchObject([{ id }]);
    expect(await payments.find({ ...all, id, status: 'paid' }, 10)).toEqual([]);
    expect(await payments.find({ ...all, application: 'shop' }, 2)).toHaveLength(2);
    const exhausted = await anExhausted();
    expect(await deliveries.listExhausted('shop', 1)).toMatchObject([{ id: exhausted }]);
  });

  it('are told as a timeline, with every attempt, its status and its body', async () => {
    const workflowUrl = (id: string) => `http://127.0.0.1:8233/workflows/${id}`;
    const { payments } = operationsOn(records.sql, { workflowUrl });
    const { id } = await records.ended('failed', { orderId: 'order-told' });
    await records.sql`
      insert into attempts (payment_id, number, round, trigger, scheduled_at, started_at,
        completed_at, duration_ms, response_status, error_class, error, response_body,
        response_truncated)
      values (${id}, 1, 1, 'schedule', now(), now() + interval '1 s', now() + interval '2 s', 1000,
        500, 'http_status', 'Answered 500', 'out of order', false)`;
    const story = await payments.get(id);
    expect(story.workflowUrl).toBe(`http://127.0.0.1:8233/workflows/${id}`);
    expect(story.timeline.map(({ what }) => what)).toEqual([
      ...['created', 'payer sent to the gateway', 'failed', 'next attempt due'],
      'attempt 1 (schedule)',
    ]);
    expect(story.timeline.at(-1)?.details).toBe('http_status: Answered 500, 1000 ms: out of order');
    expect(story.payment.attempts).toMatchObject([{ number: 1, responseStatus: 500 }]);
    await records.sql`update attempts set response_body = ${'x'.repeat(201)} where payment_id = ${id}`;
    const { timeline } = await payments.get(id);
    // What is left out is not passed over in silence.
    expect(timeline.at(-1)?.details).toMatch(/: x{200}…$/);
    await expect(payments.get('PAY_none')).rejects.toThrow('There is no payment PAY_none');
  });

  it('FS-20: are marked where their order had been paid before', async () => {
    const { payments } = operationsOn(records.sql);
    const orderId = 'order-twice';
    const failed = await records.ended('failed', { orderId });
    const meanwhile = await records.sent({ orderId });
    const first = await records.ended('paid', { orderId });
    const later = { createdAt: new Date(Date.now() + 1_000) };
    const second = await records.created({ orderId, ...later });
    await records.ended('paid', { orderId, application: 'quiet' });
    const marks = async () => {
      const filter = { id: null, application: 'shop', status: null, delivery: null };
      const found = await payments.find({ ...filter, orderId }, 10);
      return new Map(found.map(({ id, duplicateOf }) => [id, duplicateOf]));
    };
    expect(await marks()).toEqual(
      new Map([
        [failed.id, null],
        [meanwhile.id, null],
        [first.id, null],
        [second.id, first.id],
      ]),
    );
    // The payer paid both.
    const { ended, event } = withOutcome(meanwhile, 'paid', new Date(Date.now() + 2_000));
    await records.paymentOutcomes.finalize(ended, event, noAnswer);
    expect((await marks()).get(meanwhile.id)).toBe(first.id);
    const { timeline } = await payments.get(meanwhile.id);
    expect(timeline).toContainEqual(
      expect.objectContaining({
        what: 'duplicate: its order was paid before',
        details: first.id,
      }),
    );
  });

  it.each([
    ['returns', 'goes back by itself'],
    ['reversed', 'it went back'],
    ['by_hand', 'look after it at the gateway'],
  ] as const)('are told with the money that came after their end: %s', async (became, told) => {
    const { payments } = operationsOn(records.sql);
    const { id } = await records.ended('expired');
    const latePayments = createLatePayments(records.sql);
    for (const result of [null, became])
      await latePayments.record(id, { result, facts: {}, now: new Date() });
    const { timeline, payment } = await payments.get(id);
    expect(payment.latePaymentResult).toBe(became);
    expect(timeline.map(({ what }) => what)).toContain('money found after the end');
    const details = expect.stringContaining(told);
    expect(timeline).toContainEqual(expect.objectContaining({ what: 'late money', details }));
  });
});
