import { describe, expect, it } from 'vitest';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { startRecords } from '../../support/data/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

it.each([
  ['expires one whose workflow started too late', { wasAsked: false, unreachable: false }, null],
  ['fails one that could not be opened', { wasAsked: false, unreachable: true }, 'gateway_error'],
  // The last try failed for another reason, or the run was lost.
  ['fails one whose gateway was silent', { wasAsked: true, unreachable: false }, 'gateway_error'],
])('expirePayment, if the payment is not open: %s', async (_, given, failureCode) => {
  const { id } = await records.created();
  const { openPayment } = withGateway(records, { open: silence });
  if (given.wasAsked)
    await expect(openPayment({ id, afterDeadline: false })).rejects.toThrow('timeout');
  const { expirePayment, calls } = withGateway(records, {});
  const status = failureCode ? 'failed' : 'expired';
  const request = { id, grace: true, unreachable: given.unreachable };
  expect(await expirePayment(request)).toEqual({ kind: 'ended', status });
  expect(calls()).toEqual([]);
  expect(await records.paymentOutcomes.get(id)).toMatchObject({ status, failureCode });
  expect(await records.listEvents(id)).toHaveLength(1);
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
      const again = withGateway(records, {});
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
});
