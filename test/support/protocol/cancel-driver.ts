import { mayHaveCaptured } from '../../../activities/gateway-calls.ts';
import type { VerificationResult } from '../../../contract/status.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import type { Cancel } from '../../../protocol/cancel.ts';
import type { Records } from '../data/records.ts';
import { confirmed, silence, withGateway } from '../service/scripted-gateway.ts';
import { type Driver, stopAfter } from './driver.ts';

/** The activity's collaborators. A fault replaces some of them. */
interface Code {
  outcomes: PaymentOutcomes;
  recheckLatePayment: () => Promise<void>;
  isRetry: () => boolean;
}
export type CancelFault = (code: Code) => Partial<Code>;

const responseTo = (result: VerificationResult): Cancel['response'] => {
  if (result.kind === 'ended') return result.status === 'cancelled' ? 200 : 409;
  return result.kind === 'unknown' ? 502 : 409;
};

/** A payment that its application calls off: `cancelPayment`. */
export const createCancelDriver = async (
  records: Records,
  start: Cancel,
  fault?: CancelFault,
): Promise<Driver<Cancel>> => {
  const { sql } = records;
  const isTwoStep = start.gateway === 'two_step';
  const payment = await records.opened({ gateway: isTwoStep ? 'zarinpal' : 'stripe' });
  const { id } = payment;
  const exchanges = createGatewayExchanges(sql);
  /** The gateway's own books. */
  const gateway = { money: start.money, closed: start.closed };
  let { late, response } = start;

  const answer = (): GatewayStatus => {
    if (gateway.money === 'unverified') gateway.money = 'captured';
    if (gateway.money === 'captured') return confirmed();
    if (gateway.money === 'moving') return { state: 'processing' };
    return { state: gateway.closed || gateway.money === 'back' ? 'expired' : 'waiting' };
  };

  return {
    async run(name, before, stop) {
      const code: Code = {
        outcomes: records.paymentOutcomes,
        recheckLatePayment: async () => void (late = true),
        isRetry: () => before.retry,
      };
      const { outcomes, recheckLatePayment, isRetry } = { ...code, ...fault?.(code) };
      const verify = () =>
        stop(async (step) => {
          const said = answer();
          return step.startsWith('lost answer') ? silence() : said;
        });
      const expire = () =>
        stop(async (step) => {
          gateway.closed ||= gateway.money === 'none';
          return step.startsWith('lost answer') ? silence() : gateway.closed;
        });
      const { cancelPayment } = withGateway(
        records,
        { verify, ...(start.gateway === 'closes' && { expire }) },
        {
          paymentOutcomes: {
            ...outcomes,
            finalize: stopAfter(stop, outcomes.finalize),
            recordInquiry: stopAfter(stop, outcomes.recordInquiry, (isOpen) => !isOpen),
          },
          workflows: { recheckLatePayment },
          isRetry,
        },
      );
      const result = await cancelPayment({ id, by: 'application' });
      if (name() === 'a') response = responseTo(result);
    },
    async happen(step, _, after) {
      if (step === 'payer: sendToGateway')
        return records.payments.sendToGateway(id, payment.createdAt);
      if (step === 'application: POST cancel') response = 'awaited';
      if (step === 'failover loses checkout_at')
        // Without the trigger that refuses it.
        return sql.begin(async (tx) => {
          await tx`set local session_replication_role = replica`;
          await tx`update payments set checkout_at = null where id = ${id}`;
        });
      if (step === 'verifyPayment: recheckLatePayment')
        await withGateway(
          records,
          {},
          { workflows: { recheckLatePayment: async () => void (late = true) } },
        ).verifyPayment({ id, returned: false, reported: true });
      else if (step.endsWith('recheckLatePayment')) late = true;
      gateway.money = after.money;
      return undefined;
    },
    async observe() {
      const row = await records.paymentOutcomes.get(id);
      return {
        status: row?.status === 'processing' ? 'pending' : (row?.status as Cancel['status']),
        events: (await records.listEvents(id)).length,
        checkout: row?.payerSent ?? false,
        doubt: mayHaveCaptured(await exchanges.list(id)),
        late,
        response,
        ...gateway,
      };
    },
  };
};
