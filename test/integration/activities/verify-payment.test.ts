import { describe, expect, it } from 'vitest';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { failureReasons, isFailureCode } from '../../../contract/failure-codes.ts';
import type { Payment } from '../../../contract/payment.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { createPaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import { noAnswer, withOutcome, startRecords } from '../../support/data/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/service/scripted-gateway.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

const statusOf = async ({ id }: Payment) => (await records.paymentOutcomes.get(id))?.status;
const isUncertain = async ({ id }: Payment) => {
  const [row] = await records.sql`select uncertain from payments where id = ${id}`;
  return row?.['uncertain'];
};
const eventOfPayment = async ({ id }: Payment): Promise<Record<string, unknown> | undefined> => {
  const [event, ...more] = await records.listEvents(id);
  expect(more).toEqual([]);
  return event && JSON.parse(event.body.toString());
};
/** It can close payments, and is never asked to: a verification without a cancel closes none. */
const gatewayThatAnswers = (...answers: (GatewayStatus | typeof silence)[]) =>
  withGateway(records, { verify: inTurn<GatewayStatus>(...answers), expire: inTurn<boolean>() });
/** Verifies a payment whose gateway gives this answer. */
const verifyOnce = async (answer: GatewayStatus | typeof silence, returned = false) => {
  const payment = await records.sent();
  const gateway = gatewayThatAnswers(answer);
  const kind = await gateway.verifyPayment({ id: payment.id, returned });
  return { payment, kind, ...gateway };
};

describe('verifyPayment', () => {
  it('ends the payment as paid with the gateway’s details if amount and currency are equal', async () => {
    const { payment, kind, now, asked } = await verifyOnce(confirmed());
    expect(kind).toEqual({ kind: 'ended', status: 'paid' });
    const details = { trackingCode: 'TRACK-1', cardPanMasked: '502229******1234' };
    const stored = await records.paymentOutcomes.get(payment.id);
    expect(stored).toMatchObject({ ...details, status: 'paid', paidAt: now, updatedAt: now });
    const event = await eventOfPayment(payment);
    expect(event).toMatchObject({ event: 'payment.paid', tracking_code: 'TRACK-1' });
    // The reference comes from our record.
    const { id, amount, currency } = payment;
    expect(asked).toMatchObject([{ payment: { id, amount, currency, reference: `REF_${id}` } }]);
  });

  it('passes on the proof of the last return', async () => {
    const { id } = await records.sent();
    const gateway = gatewayThatAnswers({ state: 'waiting' }, { state: 'waiting' });
    await gateway.verifyPayment({ id, returned: true });
    await records.sql`update payments set return_proof = 'RRN 12-3' where id = ${id}`;
    await gateway.verifyPayment({ id, returned: true });
    expect(gateway.asked).toMatchObject([
      { payment: { returnProof: null } },
      { payment: { returnProof: 'RRN 12-3' } },
    ]);
  });

  it('ends it as paid without a card and a tracking code', async () => {
    const { payment } = await verifyOnce(confirmed({ trackingCode: null, cardPanMasked: null }));
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
  ])('ends it as amount_mismatch with an alert if the gateway confirms %o', async (other) => {
    const { payment, kind, alerts, late } = await verifyOnce(confirmed(other));
    expect(kind).toEqual({ kind: 'ended', status: 'failed' });
    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({
      status: 'failed',
      failureCode: 'amount_mismatch',
      paidAt: null,
      // Its disputes are found by it.
      trackingCode: 'TRACK-1',
    });
    expect(await eventOfPayment(payment)).toMatchObject({
      failure_code: 'amount_mismatch',
      tracking_code: null,
    });
    expect(alerts()).toEqual(['amount_mismatch']);
    // The late-payment workflow reverses the money.
    expect(late).toEqual([payment.id]);
  });

  it('starts the late-payment workflow of a mismatch also if the first try broke off after the end', async () => {
    const { payment } = await verifyOnce(confirmed({ amount: 1 }));
    const again = gatewayThatAnswers();
    const kind = await again.verifyPayment({ id: payment.id, returned: false });
    expect(kind).toEqual({ kind: 'ended', status: 'failed' });
    expect(again.late).toEqual([payment.id]);
    const { payment: paid, late } = await verifyOnce(confirmed());
    await again.verifyPayment({ id: paid.id, returned: false });
    expect([late, again.late]).toEqual([[], [payment.id]]);
  });

  it('starts the late-payment workflow if an earlier verification may have captured the money', async () => {
    const startedLate = async (...answers: (GatewayStatus | typeof silence)[]) => {
      const { id } = await records.sent();
      const { verifyPayment, late } = gatewayThatAnswers(...answers);
      for (const _ of answers) await verifyPayment({ id, returned: false });
      const again = gatewayThatAnswers();
      await again.verifyPayment({ id, returned: false });
      return [...late, ...again.late].map((each) => each === id);
    };
    const failed: GatewayStatus = {
      state: 'failed',
      failureCode: 'payment_not_completed',
      code: '-51',
      message: null,
    };
    const waiting: GatewayStatus = { state: 'waiting' };
    for (const ending of [failed, { state: 'cancelled' }, { state: 'expired' }] as const) {
      expect(await startedLate(silence, ending)).toEqual([true, true]);
      expect(await startedLate({ state: 'processing' }, waiting, ending)).toEqual([true, true]);
      expect(await startedLate(waiting, ending)).toEqual([]);
    }
    expect(await startedLate(silence, { state: 'processing' }, confirmed())).toEqual([]);
  });

  it.each(Object.keys(failureReasons).filter(isFailureCode))(
    'ends it as failed with %s in our words, and stores the gateway’s words for admins',
    async (failureCode) => {
      const words = { code: 'G-77', message: 'the gateway said so' };
      const { payment, kind } = await verifyOnce({ state: 'failed', failureCode, ...words });
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

  it.each(['cancelled', 'expired'] as const)(
    'ends it as %s if the gateway says so',
    async (state) => {
      const { payment, kind } = await verifyOnce({ state });
      expect(kind).toEqual({ kind: 'ended', status: state });
      expect(await eventOfPayment(payment)).toMatchObject({ event: `payment.${state}` });
    },
  );

  it.each([
    { answer: { state: 'waiting' }, returned: false, kind: 'waiting', status: 'pending' },
    { answer: { state: 'waiting' }, returned: true, kind: 'waiting', status: 'processing' },
    { answer: { state: 'processing' }, returned: false, kind: 'processing', status: 'processing' },
    { answer: { state: 'processing' }, returned: true, kind: 'processing', status: 'processing' },
    { answer: silence, returned: false, kind: 'unknown', status: 'pending' },
    { answer: silence, returned: true, kind: 'unknown', status: 'processing' },
  ] as const)(
    'leaves it $status and open at the gateway, without an event, if that answers $kind (returned: $returned)',
    async ({ answer, returned, kind, status }) => {
      const { payment, kind: result, calls } = await verifyOnce(answer, returned);
      expect(calls()).toEqual(['verify']);
      expect(result).toEqual({ kind });
      expect(await statusOf(payment)).toBe(status);
      expect(await eventOfPayment(payment)).toBeUndefined();
      // The sweeper then asks soon again, and does not take the gateway's list as proof.
      expect(await isUncertain(payment)).toBe(kind !== 'waiting');
    },
  );

  it('lets the sweeper ask again soon only if the gateway would return unverified money', async () => {
    for (const [driver, isSoon] of [
      ['payping', true],
      ['stripe', false],
    ] as const) {
      await records.addGateway(driver, { kind: 'sandbox' });
      const payment = await records.sent({ gateway: driver });
      const { verifyPayment } = gatewayThatAnswers({ state: 'processing' });
      expect(await verifyPayment({ id: payment.id, returned: true })).toEqual({
        kind: 'processing',
      });
      expect(await isUncertain(payment)).toBe(isSoon);
    }
  });

  it.each(terminalStatuses)(
    'answers from the record without a call if the payment is %s, as expirePayment does',
    async (status) => {
      const { id } = await records.ended(status, { orderId: `answers-${status}` });
      const before = await records.snapshot(id);
      const { verifyPayment, expirePayment, calls } = gatewayThatAnswers();
      const ended = { kind: 'ended', status };
      expect(await verifyPayment({ id, returned: true })).toEqual(ended);
      expect(await expirePayment({ id, grace: true, unreachable: false })).toEqual(ended);
      expect(calls()).toEqual([]);
      expect(await records.snapshot(id)).toEqual(before);
    },
  );

  it('does not call the gateway before the payment is open', async () => {
    const { id } = await records.created();
    const before = await records.snapshot(id);
    const { verifyPayment, calls } = gatewayThatAnswers();
    expect(await verifyPayment({ id, returned: true })).toEqual({ kind: 'waiting' });
    expect(calls()).toEqual([]);
    expect(await records.snapshot(id)).toEqual(before);
  });

  it('returns the recorded outcome if the payment ended during the call', async () => {
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

  it('fails finally for a payment that does not exist', async () => {
    const { verifyPayment } = gatewayThatAnswers();
    await expect(verifyPayment({ id: 'PAY_none', returned: true })).rejects.toMatchObject({
      type: 'PaymentNotFound',
      nonRetryable: true,
    });
  });

  it.each([
    ['a retry, whose try before may have captured', ['verifyPayment', 'cancelPayment'], true],
    ['news of its gateway', ['verifyPayment', 'expirePayment'], false],
  ] as const)(
    'starts a search for late money of an ended payment after %s',
    async (_, names, isRetry) => {
      const [ended, paid] = [await records.ended('expired'), await records.ended('paid')];
      const request = {
        returned: false,
        grace: true,
        unreachable: false,
        by: 'application',
      } as const;
      for (const name of names) {
        const searchedBy = async (why: { isRetry: boolean; reported: boolean }) => {
          const { late, ...activities } = withGateway(records, {}, { isRetry: () => why.isRetry });
          for (const { id } of [ended, paid])
            await activities[name]({ ...request, id, reported: why.reported });
          return late;
        };
        expect(await searchedBy({ isRetry: false, reported: false }), name).toEqual([]);
        expect(await searchedBy({ isRetry, reported: !isRetry }), name).toEqual([ended.id]);
      }
    },
  );

  it('fails with a retry delay if its gateway has no free slot', async () => {
    const [slow, other] = await Promise.all([records.sent(), records.sent()]);
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { verifyPayment, expirePayment, calls } = withGateway(
      records,
      { verify: () => promise },
      { gatewayBulkhead: createBulkhead({ perOwner: 1 }) },
    );
    const verifying = verifyPayment({ id: slow.id, returned: false });
    await until('the gateway is asked', () => calls().length === 1);
    const before = await records.snapshot(other.id);
    const busy = { type: 'GatewayBusy', nextRetryDelay: expect.any(Number), nonRetryable: false };
    const { id } = other;
    await expect(verifyPayment({ id, returned: true })).rejects.toMatchObject(busy);
    const deadline = { id, grace: true, unreachable: false };
    await expect(expirePayment(deadline)).rejects.toMatchObject(busy);
    expect(await records.snapshot(id)).toEqual(before);
    answer(confirmed());
    expect(await verifying).toEqual({ kind: 'ended', status: 'paid' });
    expect(await verifyPayment({ id, returned: true })).toEqual({ kind: 'ended', status: 'paid' });
    expect(calls()).toHaveLength(2);
  });

  it('holds no database connection while it waits for the gateway', async () => {
    const one = connect(records.url, { name: 'one-connection', max: 1 });
    const payment = await records.sent();
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { verifyPayment, calls } = withGateway(
      { paymentOutcomes: createPaymentOutcomes(one), sql: one },
      { verify: () => promise },
    );
    const verifying = verifyPayment({ id: payment.id, returned: false });
    await until('the gateway is asked', () => calls().length === 1);
    const sessions = await records.sql`
      select state from pg_stat_activity where application_name = 'one-connection'`;
    expect(sessions).toEqual([{ state: 'idle' }]);
    // The pool has one connection only.
    expect(await one`select 1 as free`).toEqual([{ free: 1 }]);
    answer(confirmed());
    expect(await verifying).toEqual({ kind: 'ended', status: 'paid' });
    await one.end();
  });
});
