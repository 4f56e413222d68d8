import { describe, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { startRecords } from '../../support/data/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

const inTime = { grace: true, unreachable: false };
const aSilentScript = () => withGateway(records, {});
const stateOf = async ({ id }: Payment) => {
  const facts = await records.paymentOutcomes.get(id);
  const events = await records.listEvents(id);
  return { status: facts?.status, failureCode: facts?.failureCode, events: events.length };
};

/** Sends the payer to the gateway after the activity has read the record and before it writes. */
const sendingMeanwhile = (payment: Payment, first: () => Promise<unknown> = async () => {}) => {
  let reads = 0;
  return {
    ...records.paymentOutcomes,
    async get(id: string) {
      const facts = await records.paymentOutcomes.get(id);
      if (reads++ === 0) {
        await first();
        await records.payments.sendToGateway(id, payment.createdAt);
      }
      return facts;
    },
  };
};

describe('expirePayment, if no payer was sent to the gateway', () => {
  it('asks the gateway about an open payment, whose recorded checkout may be lost', async () => {
    const [paid, unpaid] = [await records.opened(), await records.opened()];
    const asked = withGateway(records, { verify: async () => confirmed() });
    expect(await asked.expirePayment({ id: paid.id, ...inTime })).toEqual({
      kind: 'ended',
      status: 'paid',
    });
    const { expirePayment, calls } = withGateway(records, {
      verify: async () => waiting,
      expire: async () => true,
    });
    const kind = await expirePayment({ id: unpaid.id, ...inTime });
    expect(kind).toEqual({ kind: 'ended', status: 'expired' });
    expect(calls()).toEqual(['verify', 'expire']);
    expect(await stateOf(unpaid)).toEqual({ status: 'expired', failureCode: null, events: 1 });
  });

  it('expires a payment whose workflow started too late', async () => {
    const payment = await records.created();
    await aSilentScript().expirePayment({ id: payment.id, ...inTime });
    expect(await stateOf(payment)).toEqual({ status: 'expired', failureCode: null, events: 1 });
  });

  it('fails a payment whose gateway could not be reached as gateway_error', async () => {
    const payment = await records.created();
    const { expirePayment, calls } = aSilentScript();
    const kind = await expirePayment({ id: payment.id, grace: true, unreachable: true });
    expect(kind).toEqual({ kind: 'ended', status: 'failed' });
    expect(calls()).toEqual([]);
    expect(await stateOf(payment)).toMatchObject({ failureCode: 'gateway_error', events: 1 });
  });

  it('fails it as gateway_error also if the last try failed for another reason, or the run was lost', async () => {
    const payment = await records.created();
    const asked = withGateway(records, { open: silence });
    await expect(asked.openPayment({ id: payment.id, afterDeadline: false })).rejects.toThrow(
      'timeout',
    );
    await aSilentScript().expirePayment({ id: payment.id, ...inTime });
    expect(await stateOf(payment)).toMatchObject({ failureCode: 'gateway_error', events: 1 });
  });

  it('asks the gateway next time if the payment is opened and its payer sent at the same moment', async () => {
    const payment = await records.created();
    const opened = {
      reference: `REF_${payment.id}`,
      redirect: { method: 'GET', url: 'https://gateway.example' } as const,
      exchanges: [],
    };
    const paymentOutcomes = sendingMeanwhile(payment, () =>
      records.paymentOutcomes.recordOpened(payment.id, opened),
    );
    const script = { verify: async () => confirmed() };
    const { expirePayment } = withGateway({ ...records, paymentOutcomes }, script);
    const first = await expirePayment({ id: payment.id, grace: true, unreachable: true });
    expect(first).toEqual({ kind: 'waiting' });
    expect(await stateOf(payment)).toEqual({ status: 'pending', failureCode: null, events: 0 });
    const second = await expirePayment({ id: payment.id, grace: true, unreachable: true });
    expect(second).toEqual({ kind: 'ended', status: 'paid' });
  });
});

const waiting: GatewayStatus = { state: 'waiting' };
const settling: GatewayStatus = { state: 'processing' };

describe('expirePayment, if a payer was sent to the gateway: the last inquiry', () => {
  it('starts the late-payment workflow if money may still be captured, also when repeated', async () => {
    const startedLate = async (answer: GatewayStatus) => {
      const { id } = await records.sent();
      const { expirePayment, late } = withGateway(records, {
        verify: inTurn<GatewayStatus>(answer),
      });
      for (let tries = 0; tries < 2; tries += 1) {
        const result = await expirePayment({ id, grace: false, unreachable: false });
        expect(result).toEqual({ kind: 'ended', status: 'expired' });
      }
      return late.map((each) => each === id);
    };
    expect(await startedLate(settling)).toEqual([true, true]);
    expect(await startedLate(waiting)).toEqual([]);
  });

  it('starts the late-payment workflow if this try captures money after another one ended the payment', async () => {
    const payment = await records.sent();
    const { expirePayment, late } = withGateway(records, {
      async verify() {
        const said = withGateway(records, { verify: inTurn<GatewayStatus>(waiting, waiting) });
        await said.expirePayment({ id: payment.id, grace: false, unreachable: false });
        return confirmed();
      },
    });
    const answer = await expirePayment({ id: payment.id, grace: true, unreachable: false });
    expect(answer).toEqual({ kind: 'ended', status: 'expired' });
    expect(late).toEqual([payment.id]);
  });

  describe('if the late-payment workflow cannot be started', () => {
    const temporalIsAway = () => Promise.reject(new Error('Temporal is away'));
    /** A try that gets this answer after another try has ended the payment. */
    const answeredLate = async (
      answer: GatewayStatus,
      earlier: GatewayStatus,
      meanwhile: GatewayStatus = waiting,
    ) => {
      const { id } = await records.sent();
      const verifying = (said: GatewayStatus) => withGateway(records, { verify: async () => said });
      await verifying(earlier).verifyPayment({ id, returned: false });
      const deadline = { id, grace: true, unreachable: false };
      const gateway = withGateway(
        records,
        {
          async verify() {
            await verifying(meanwhile).expirePayment(deadline);
            return answer;
          },
        },
        {
          workflows: { recheckLatePayment: temporalIsAway },
          paymentOutcomes: { ...records.paymentOutcomes, flagDuplicates: temporalIsAway },
        },
      );
      await expect(gateway.expirePayment(deadline)).rejects.toThrow('Temporal is away');
      return { id, alerts: gateway.alerts() };
    };

    it.each([
      ['the amount', confirmed()],
      ['another amount', confirmed({ amount: 1 })],
    ])('alerts if the gateway captured %s, and the next try starts it', async (_, answer) => {
      const { id, alerts } = await answeredLate(answer, waiting);
      expect(alerts).toEqual(['late_payment']);
      const again = aSilentScript();
      await again.verifyPayment({ id, returned: false });
      expect(again.late).toEqual([id]);
    });

    it('does not alert if nothing was captured, or the payment is paid', async () => {
      const unpaid = await answeredLate({ state: 'cancelled' }, { state: 'processing' });
      expect(unpaid.alerts).toEqual([]);
      const paid = await answeredLate(confirmed(), waiting, confirmed());
      expect(paid.alerts).toEqual([]);
    });
  });

  it('is not made for a payment that has ended', async () => {
    for (const status of terminalStatuses) {
      const { id } = await records.ended(status);
      const before = await records.snapshot(id);
      const { expirePayment, calls } = aSilentScript();
      expect(await expirePayment({ id, ...inTime })).toEqual({ kind: 'ended', status });
      expect(calls()).toEqual([]);
      expect(await records.snapshot(id)).toEqual(before);
    }
  });
});
