import { describe, expect, it } from 'vitest';
import { adviceText, paymentFacts } from '../../../../admin/operations/facts.ts';
import { eventId } from '../../../../contract/ids.ts';
import { adviceTexts } from '../../../../contract/payer-advice.ts';
import { everyPayment, type PaymentFilter } from '../../../../postgres/admin/payments.ts';
import { createPayments } from '../../../../postgres/payments/payments.ts';
import { createLatePayments } from '../../../../postgres/payments/late-payments.ts';
import { emptyTemporal, operationsOn } from '../../../support/service/admin-operations.ts';
import { withOutcome, noAnswer, startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const page = { after: null, limit: 10 };

describe('payments', () => {
  it('are found by id, order, application and status', async () => {
    const { payments } = operationsOn(records.sql);
    const idsOf = async (filter: Partial<PaymentFilter>) =>
      (await payments.list({ ...everyPayment, ...filter }, page)).rows.map((each) => each.id);
    const { id } = await records.ended('failed', { orderId: 'order-find' });
    await records.ended('failed');
    for (const filter of [{ id }, { orderId: 'order-find' }, { id, status: 'failed' as const }])
      expect(await idsOf(filter)).toEqual([id]);
    expect(await idsOf({ id, status: 'paid' })).toEqual([]);
    expect((await idsOf({ application: 'shop' })).length).toBeGreaterThan(1);
  });

  it('advise the payer of a failed one by what is left of the one that has paid the order', async () => {
    const { payments } = operationsOn(records.sql);
    const order = { orderId: 'order-lost', test: true };
    const [{ id }, paid] = [
      await records.ended('failed', order),
      await records.ended('paid', order),
    ];
    const isSaidToBePaid = async () => {
      const { payment } = await payments.get(id);
      const outcome = await createPayments(records.sql).getOutcomeForPayer(id);
      expect(payment.isOrderPaid).toBe(outcome?.isOrderPaid);
      const text = adviceText(payment, 'en', new Date());
      return text?.includes(adviceTexts.failure_order_already_paid.en);
    };
    expect(await isSaidToBePaid()).toBe(true);
    await records.sql`
      update payments set amount_refunded = amount - 1 where id = ${paid.id}`;
    expect(await isSaidToBePaid()).toBe(true);
    await records.sql`update payments set amount_disputed = 1, amount_lost = 1 where id = ${paid.id}`;
    expect(await isSaidToBePaid()).toBe(false);
  });

  it('have a timeline with every attempt, its status and its body', async () => {
    const workflowUrl = (id: string) => `http://127.0.0.1:8233/workflows/${id}`;
    const { payments } = operationsOn(records.sql, { workflowUrl });
    const { id } = await records.ended('failed', { orderId: 'order-timeline' });
    await records.sql`
      insert into attempts (event_id, number, round, trigger, scheduled_at, started_at,
        completed_at, duration_ms, response_status, error_class, error, response_body,
        response_truncated)
      values (${eventId(id)}, 1, 1, 'schedule', now(), now() + interval '1 s', now() + interval '2 s', 1000,
        500, 'http_status', 'The receiver answered 500', 'out of order', false)`;
    const { payment, timeline, workflowUrl: url } = await payments.get(id);
    expect(url).toBe(`http://127.0.0.1:8233/workflows/${id}`);
    expect(timeline.map(({ what }) => what)).toEqual([
      'created',
      'payer sent to the gateway',
      'failed',
      'attempt 2 is due',
      'attempt 1 (by the schedule)',
    ]);
    expect(timeline.at(-1)?.details).toBe(
      'refused by the receiver: The receiver answered 500, 1000 ms: out of order',
    );
    expect(payment.attempts).toMatchObject([{ number: 1, responseStatus: 500 }]);
    await records.sql`update attempts set response_body = ${'x'.repeat(201)} where event_id = ${eventId(id)}`;
    const { timeline: shortened } = await payments.get(id);
    expect(shortened.at(-1)?.details).toMatch(/: x{200}…$/);
    await expect(payments.get('PAY_none')).rejects.toThrow('There is no payment PAY_none');
  });

  it('say of the deadline what happens then, which is not always that they expire', async () => {
    const { payments } = operationsOn(records.sql);
    const deadlinesOf = async ({ id }: { id: string }) =>
      (await payments.get(id)).timeline
        .filter(({ what }) => /deadline|expire/.test(what))
        .map(({ what, details }) => [what, details]);
    const asked = ['deadline', 'the gateway is asked until it says how the payment ended'];
    const late = await records.sent({ expiresAt: new Date(Date.now() - 60_000) });
    await records.inquired(late.id, { answer: 'unknown', becomesProcessing: true });
    expect(await deadlinesOf(late)).toEqual([asked]);
    expect(await deadlinesOf(await records.sent())).toEqual([asked]);
    const unopened = ['deadline', 'it ends unless the gateway has opened it by then'];
    expect(await deadlinesOf(await records.created())).toEqual([unopened]);
    expect(await deadlinesOf(await records.ended('paid'))).toEqual([]);
  });

  it('have gateways that may open them only until one has', async () => {
    const { payments } = operationsOn(records.sql);
    const gateways = async ({ id }: { id: string }) => {
      await records.sql`update payments set candidates = '{sandbox,other}' where id = ${id}`;
      return paymentFacts((await payments.get(id)).payment).candidates.value;
    };
    expect(await gateways(await records.created())).toBe('sandbox, other');
    expect(await gateways(await records.opened())).toBeNull();
    expect(await gateways(await records.ended('paid'))).toBeNull();
  });

  it('have no inquiry in the timeline that the sweeper has only claimed', async () => {
    const { payments } = operationsOn(records.sql);
    const { id } = await records.sent({ orderId: 'order-claimed' });
    await records.sql`update payments set inquired_at = now() - interval '6 minutes' where id = ${id}`;
    const { timeline } = await payments.get(id);
    expect(timeline.map(({ what }) => what)).toEqual([
      'created',
      'payer sent to the gateway',
      'deadline',
    ]);
  });

  it('are marked as duplicates when their order was paid before', async () => {
    const { payments } = operationsOn(records.sql);
    const orderId = 'order-twice';
    const failed = await records.ended('failed', { orderId });
    const duplicate = await records.sent({ orderId });
    const first = await records.ended('paid', { orderId });
    const later = { createdAt: new Date(Date.now() + 1_000) };
    const second = await records.created({ orderId, ...later });
    await records.ended('paid', { orderId, application: 'quiet' });
    const marks = async () => {
      const filter = { ...everyPayment, application: 'shop', orderId };
      const { rows } = await payments.list(filter, page);
      return new Map(rows.map(({ id, duplicateOf }) => [id, duplicateOf]));
    };
    expect(await marks()).toEqual(
      new Map([
        [failed.id, null],
        [duplicate.id, null],
        [first.id, null],
        [second.id, first.id],
      ]),
    );
    const { ended, event } = withOutcome(duplicate, 'paid', new Date(Date.now() + 2_000));
    await records.paymentOutcomes.finalize(ended, event, noAnswer);
    expect((await marks()).get(duplicate.id)).toBe(first.id);
    const { timeline } = await payments.get(duplicate.id);
    expect(timeline).toContainEqual(
      expect.objectContaining({
        what: 'duplicate: another payment of the order was paid before',
        details: first.id,
      }),
    );
  });

  const lateMoney = 'money that came after the end';
  it.each([
    ['returns', 'the gateway returns it by itself'],
    ['reversed', 'reversed'],
    ['by_hand', 'check there'],
  ] as const)('show late money in the timeline: %s', async (outcome, text) => {
    const { payments } = operationsOn(records.sql);
    const { id } = await records.ended('expired');
    const latePayments = createLatePayments(records.sql);
    for (const result of [null, outcome])
      await latePayments.record(id, { result, facts: {}, now: new Date() });
    const { timeline, payment } = await payments.get(id);
    expect(payment.latePaymentResult).toBe(outcome);
    expect(timeline.map(({ what }) => what)).toContain('money found after the end');
    const details = expect.stringContaining(text);
    expect(timeline).toContainEqual(expect.objectContaining({ what: lateMoney, details }));
  });

  const asked: unknown[] = [];
  const withWorkflows = operationsOn(records.sql, {
    temporal: async () => ({
      ...emptyTemporal,
      verify: async ({ id }, request) => {
        asked.push(['verify', id, request]);
        return { kind: 'waiting' };
      },
      cancel: async ({ id }, request) => {
        asked.push(['cancel', id, request]);
        return { kind: 'unknown' };
      },
    }),
  }).payments;
  const without = operationsOn(records.sql).payments;

  it.each([
    ['verify', { returned: false }, true, 'is not open at its gateway yet'],
    ['cancel', { by: 'admin' }, false, null],
  ] as const)(
    'are told to %s by their workflow, with a record',
    async (act, request, isAnswered, why) => {
      asked.length = 0;
      const { id } = await records.sent();
      const status = 'pending';
      expect(await withWorkflows[act](id, 'a reason')).toEqual({ status, isAnswered });
      expect(asked).toEqual([[act, id, request]]);
      const audited = await records.sql`
      select action, reason from audit_log where subject = ${`payment:${id}`}`;
      expect(audited).toEqual([{ action: `payment.${act}`, reason: 'a reason' }]);
      const { id: created } = await records.created();
      if (why !== null) await expect(withWorkflows[act](created, 'early')).rejects.toThrow(why);
      const { id: paid } = await records.ended('paid');
      await expect(withWorkflows[act](paid, 'late')).rejects.toThrow(`${paid} is paid.`);
      await expect(withWorkflows[act]('PAY_1', 'none')).rejects.toThrow(
        'There is no payment PAY_1.',
      );
      await expect(without[act](id, 'away')).rejects.toThrow('Temporal');
      expect(asked).toHaveLength(1);
    },
  );
});
