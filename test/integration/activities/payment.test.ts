import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { failureReasons, isFailureCode } from '../../../contract/failure-codes.ts';
import type { Payment } from '../../../contract/payment.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { createPaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import type { Records } from '../../support/records.ts';
import { withOutcome, noAnswer, startRecords } from '../../support/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/scripted-gateway.ts';
import { until } from '../../support/until.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const statusOf = async ({ id }: Payment) => (await records.paymentOutcomes.get(id))?.status;
const isUnanswered = async ({ id }: Payment) => {
  const [row] = await records.sql`select unanswered from payments where id = ${id}`;
  return row?.['unanswered'];
};
const eventOfPayment = async ({ id }: Payment): Promise<Record<string, unknown> | undefined> => {
  const [event, ...more] = await records.listEvents(id);
  expect(more).toEqual([]);
  return event && JSON.parse(event.body.toString());
};
const verifying = (...answers: (GatewayStatus | typeof silence)[]) =>
  withGateway(records, { verify: inTurn<GatewayStatus>(...answers) });
const settle = async (answer: GatewayStatus | typeof silence, returned = false) => {
  const payment = await records.sent();
  const gateway = verifying(answer);
  const kind = await gateway.verifyPayment({ id: payment.id, returned });
  return { payment, kind, ...gateway };
};

describe('verifyPayment, when the gateway', () => {
  it('confirms our amount and currency: paid, with what the gateway tells', async () => {
    const { payment, kind, now, asked } = await settle(confirmed());
    expect(kind).toEqual({ kind: 'ended', status: 'paid' });
    const told = { trackingCode: 'TRACK-1', cardPanMasked: '502229******1234' };
    const stands = await records.paymentOutcomes.get(payment.id);
    expect(stands).toMatchObject({ ...told, status: 'paid', paidAt: now, updatedAt: now });
    const event = await eventOfPayment(payment);
    expect(event).toMatchObject({ event: 'payment.paid', tracking_code: 'TRACK-1' });
    // FS-08: the reference is from our record.
    const { id, amount, currency } = payment;
    expect(asked).toMatchObject([{ payment: { id, amount, currency, reference: `REF_${id}` } }]);
  });

  it('confirms without card and tracking code: paid, and these are null', async () => {
    const { payment } = await settle(confirmed({ trackingCode: null, cardPanMasked: null }));
    expect(await eventOfPayment(payment)).toMatchObject({
      status: 'paid',
      tracking_code: null,
      card_pan_masked: null,
    });
  });

  it.each([
    { amount: 1249 },
    { amount: 1251 },
    { amount: 125_000 },
    { amount: 12.5 },
    { currency: 'USD' },
    { currency: 'eur' },
  ])(
    'FS-08, FS-19: confirms %o instead: amount_mismatch, never paid, with an alert',
    async (other) => {
      const { payment, kind, alerts, late } = await settle(confirmed(other));
      expect(kind).toEqual({ kind: 'ended', status: 'failed' });
      expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({
        status: 'failed',
        failureCode: 'amount_mismatch',
        paidAt: null,
        trackingCode: null,
      });
      expect(await eventOfPayment(payment)).toMatchObject({ failure_code: 'amount_mismatch' });
      expect(alerts()).toEqual(['amount_mismatch']);
      // FS-16: what was taken goes back.
      expect(late).toEqual([payment.id]);
    },
  );

  it('FS-16: has the money of a mismatch looked for also where a try broke off after the end', async () => {
    const { payment } = await settle(confirmed({ amount: 1 }));
    const again = verifying();
    const kind = await again.verifyPayment({ id: payment.id, returned: false });
    expect(kind).toEqual({ kind: 'ended', status: 'failed' });
    expect(again.late).toEqual([payment.id]);
    const { payment: paid, late } = await settle(confirmed());
    await again.verifyPayment({ id: paid.id, returned: false });
    expect([late, again.late]).toEqual([[], [payment.id]]);
  });

  it('FS-16: has money looked for that an earlier verification in doubt may have taken', async () => {
    const lookedFor = async (...answers: (GatewayStatus | typeof silence)[]) => {
      const { id } = await records.sent();
      const { verifyPayment, late } = verifying(...answers);
      for (const _ of answers) await verifyPayment({ id, returned: false });
      const again = verifying();
      await again.verifyPayment({ id, returned: false });
      return [...late, ...again.late].map((each) => each === id);
    };
    const failed: GatewayStatus = {
      ...{ state: 'failed', failureCode: 'payment_not_completed', code: '-51', message: null },
    };
    const waiting: GatewayStatus = { state: 'waiting' };
    for (const ending of [failed, { state: 'cancelled' }, { state: 'expired' }] as const) {
      expect(await lookedFor(silence, ending)).toEqual([true, true]);
      expect(await lookedFor({ state: 'processing' }, waiting, ending)).toEqual([true, true]);
      expect(await lookedFor(waiting, ending)).toEqual([]);
    }
    expect(await lookedFor(silence, { state: 'processing' }, confirmed())).toEqual([]);
  });

  it.each(Object.keys(failureReasons).filter(isFailureCode))(
    'refuses: failed, %s, in our words; its own are for admins alone',
    async (failureCode) => {
      const words = { code: 'G-77', message: 'the gateway said so' };
      const { payment, kind } = await settle({ state: 'failed', failureCode, ...words });
      expect(kind).toEqual({ kind: 'ended', status: 'failed' });
      const event = await eventOfPayment(payment);
      expect(event).toMatchObject({
        event: 'payment.failed',
        failure_code: failureCode,
        failure_reason: failureReasons[failureCode],
      });
      expect(JSON.stringify(event)).not.toMatch(/G-77|said so/);
      const [row] = await records.sql`
        select gateway_code as code, gateway_message as message from payments
        where id = ${payment.id}`;
      expect(row).toEqual(words);
    },
  );

  it.each(['cancelled', 'expired'] as const)('says %s: that it is', async (state) => {
    const { payment, kind } = await settle({ state });
    expect(kind).toEqual({ kind: 'ended', status: state });
    expect(await eventOfPayment(payment)).toMatchObject({ event: `payment.${state}` });
  });

  it.each([
    { answer: { state: 'waiting' }, returned: false, kind: 'waiting', status: 'pending' },
    { answer: { state: 'waiting' }, returned: true, kind: 'waiting', status: 'processing' },
    { answer: { state: 'processing' }, returned: false, kind: 'processing', status: 'processing' },
    { answer: { state: 'processing' }, returned: true, kind: 'processing', status: 'processing' },
    { answer: silence, returned: false, kind: 'unknown', status: 'pending' },
    { answer: silence, returned: true, kind: 'unknown', status: 'processing' },
  ] as const)(
    'says nothing final ($kind, payer back: $returned): $status, and no event',
    async ({ answer, returned, kind, status }) => {
      const settled = await settle(answer, returned);
      expect(settled.kind).toEqual({ kind });
      expect(await statusOf(settled.payment)).toBe(status);
      expect(await eventOfPayment(settled.payment)).toBeUndefined();
      // Then what its gateway's list lacks does not count as unpaid for the sweep, which asks again soon.
      expect(await isUnanswered(settled.payment)).toBe(kind !== 'waiting');
    },
  );

  it('is still verifying: it is asked again soon only where the money would go back', async () => {
    for (const [driver, soon] of [
      ['payping', true],
      ['stripe', false],
    ] as const) {
      const account = { slug: driver, driver, kind: 'sandbox', credentials: null } as const;
      await createGateways(records.sql).insert(account);
      const payment = await records.sent({ gateway: driver });
      const { verifyPayment } = verifying({ state: 'processing' });
      expect(await verifyPayment({ id: payment.id, returned: true })).toEqual({
        kind: 'processing',
      });
      expect(await isUnanswered(payment)).toBe(soon);
    }
  });
});

describe('verifyPayment', () => {
  it.each(terminalStatuses)(
    'FS-12: answers from the record once it is %s, without a call',
    async (status) => {
      const { id } = await records.ended(status);
      const before = await records.snapshot(id);
      const { verifyPayment, calls } = verifying();
      expect(await verifyPayment({ id, returned: true })).toEqual({ kind: 'ended', status });
      expect(calls()).toEqual([]);
      expect(await records.snapshot(id)).toEqual(before);
    },
  );

  it('does not ask about a payment that is not opened yet', async () => {
    const { id } = await records.created();
    const before = await records.snapshot(id);
    const { verifyPayment, calls } = verifying();
    expect(await verifyPayment({ id, returned: true })).toEqual({ kind: 'waiting' });
    expect(calls()).toEqual([]);
    expect(await records.snapshot(id)).toEqual(before);
  });

  it('FS-12: tells how a payment ended meanwhile, whatever the gateway says then', async () => {
    const payment = await records.sent();
    const { verifyPayment } = withGateway(records, {
      async verify() {
        const { ended, event } = withOutcome(payment, 'cancelled');
        await records.paymentOutcomes.finalize(ended, event, noAnswer);
        return confirmed({ amount: 1 });
      },
    });
    const kind = await verifyPayment({ id: payment.id, returned: false });
    expect(kind).toEqual({ kind: 'ended', status: 'cancelled' });
    expect(await eventOfPayment(payment)).toMatchObject({ event: 'payment.cancelled' });
  });

  it('FS-10: makes one event and gives one answer, however many tries there are', async () => {
    const payment = await records.sent();
    const answers = [confirmed(), { state: 'cancelled' }, { state: 'expired' }] as const;
    const { verifyPayment } = verifying(...answers, ...answers, ...answers);
    const kind = await Promise.all(
      Array.from({ length: 9 }, () => verifyPayment({ id: payment.id, returned: false })),
    );
    const event = await eventOfPayment(payment);
    expect(new Set(kind.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ kind: 'ended', status: event?.['status'] })]),
    );
  });

  it('leaves an error of our own to the engine, and the payment as it is', async () => {
    const { id } = await records.sent();
    const before = await records.snapshot(id);
    const { verifyPayment } = verifying();
    await expect(verifyPayment({ id, returned: true })).rejects.toThrow('more often');
    expect(await records.snapshot(id)).toEqual(before);
  });

  it('is not repeated for a payment that does not exist', async () => {
    const { verifyPayment } = verifying();
    await expect(verifyPayment({ id: 'PAY_none', returned: true })).rejects.toMatchObject({
      type: 'PAYMENT_NOT_FOUND',
      nonRetryable: true,
    });
  });

  it('sends back to the engine whoever finds no place at a slow gateway', async () => {
    const [slow, other] = await Promise.all([records.sent(), records.sent()]);
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { verifyPayment, expirePayment, calls } = withGateway(
      records,
      { verify: () => promise },
      { gatewayBulkhead: createBulkhead({ perOwner: 1 }) },
    );
    const settled = verifyPayment({ id: slow.id, returned: false });
    await until('the gateway is asked', () => calls().length === 1);
    const before = await records.snapshot(other.id);
    const busy = { type: 'GATEWAY_BUSY', nextRetryDelay: expect.any(Number), nonRetryable: false };
    const { id } = other;
    await expect(verifyPayment({ id, returned: true })).rejects.toMatchObject(busy);
    const deadline = { id, grace: true, unreachable: false };
    await expect(expirePayment(deadline)).rejects.toMatchObject(busy);
    expect(await records.snapshot(id)).toEqual(before);
    answer(confirmed());
    expect(await settled).toEqual({ kind: 'ended', status: 'paid' });
    expect(await verifyPayment({ id, returned: true })).toEqual({ kind: 'ended', status: 'paid' });
    expect(calls()).toHaveLength(2);
  });

  it('FS-50: holds no database connection while it waits for the gateway', async () => {
    const one = connect(records.url, { name: 'one-connection', max: 1 });
    const payment = await records.sent();
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { verifyPayment, calls } = withGateway(
      { paymentOutcomes: createPaymentOutcomes(one), sql: one },
      { verify: () => promise },
    );
    const settled = verifyPayment({ id: payment.id, returned: false });
    await until('the gateway is asked', () => calls().length === 1);
    const sessions = await records.sql`
      select state from pg_stat_activity where application_name = 'one-connection'`;
    expect(sessions).toEqual([{ state: 'idle' }]);
    // The pool has no other: it would wait for ever if this one were taken.
    expect(await one`select 1 as free`).toEqual([{ free: 1 }]);
    answer(confirmed());
    expect(await settled).toEqual({ kind: 'ended', status: 'paid' });
    await one.end();
  });
});
