import type { VerificationResult } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { GatewayAdapter, GatewayStatus, MayTake, OpenedPayment } from '../gateways/gateway.ts';
import { findDriver } from '../gateways/registry.ts';
import type { CancelRequest } from '../temporal/messages.ts';
import { createFinalizer } from './finalize.ts';
import { findPayment } from './find-payment.ts';
import {
  callInSlot,
  closeAt,
  mayTakeOnce,
  toOpenedPayment,
  type Unanswered,
  verifyAt,
} from './gateway-calls.ts';
import { cancelledBy, failedWith, outcomeOf } from './outcome.ts';
import type { Deps } from './verify-payment.ts';

export interface CancelPaymentRequest extends CancelRequest {
  id: string;
}

export const createCancelPayment = (deps: Deps) => {
  const { paymentOutcomes, publicBaseUrl, isRetry } = deps;
  const { finalize, afterFinalized, recordWaiting } = createFinalizer(deps);

  return {
    /**
     * Ends the payment as cancelled unless it is paid, or its money is on its way. Silence of the gateway changes
     * nothing. A call-off by `order` ends it only while another payment has paid the order.
     * @returns `waiting`: nobody has paid, and the gateway cannot close the payment
     * @throws ApplicationFailure GatewayBusy
     */
    async cancelPayment({ id, by }: CancelPaymentRequest): Promise<VerificationResult> {
      const calledOff = by === 'order' ? failedWith('order_already_paid') : cancelledBy(by);
      let payment = await findPayment(paymentOutcomes, id);
      if (isTerminal(payment.status)) return afterFinalized(payment, { inDoubt: isRetry() });
      if (by === 'order' && !payment.orderIsPaid) return { kind: 'waiting' };
      // The payer was not sent, so nobody has the link of what is open at the gateway. An earlier try may have captured
      // money, though, and a failover may have lost the checkout since.
      if (payment.reference === null || (!payment.payerSent && !isRetry())) {
        const result = await finalize(payment, calledOff, { onlyIfUnsent: true });
        if (result.kind === 'ended') return result;
        payment = await findPayment(paymentOutcomes, id);
      }
      const { reference, driver } = payment;
      if (reference === null)
        throw new Error(`${id} was sent to the gateway, but not opened there`);
      const opened = toOpenedPayment(payment, reference, publicBaseUrl);
      const returnsMoney = findDriver(driver)?.capabilities.twoStepVerify ?? false;

      const { result: answer, exchanges } = await callInSlot(deps, payment, (gateway) =>
        askAndClose(gateway, opened, { returnsMoney, mayTake: mayTakeOnce(deps, payment) }),
      );
      const outcome = answer.state === 'expired' ? calledOff : outcomeOf(payment, answer);
      if (outcome) return finalize(payment, outcome, { exchanges });
      const state =
        answer.state === 'processing' || answer.state === 'unknown' ? answer.state : 'waiting';
      return recordWaiting(payment, state, {
        becomesProcessing: state === 'processing',
        exchanges,
      });
    },
  };
};

/** @returns `expired` if nobody can pay any more, or if a two-step gateway returns what somebody pays from now on */
const askAndClose = async (
  gateway: GatewayAdapter,
  opened: OpenedPayment,
  { returnsMoney, mayTake }: { returnsMoney: boolean; mayTake: MayTake },
): Promise<GatewayStatus | Unanswered> => {
  const first = await verifyAt(gateway, opened, mayTake);
  if (first.state !== 'waiting' || (!gateway.expire && !returnsMoney)) return first;
  const last = await closeAt(gateway, opened, mayTake);
  if (last.state !== 'waiting') return last;
  return { state: 'unknown', reason: 'It neither closed the payment nor gave an outcome' };
};
