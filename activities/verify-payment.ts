import type { VerificationResult } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { VerifyRequest } from '../temporal/messages.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { Orders } from '../postgres/orders.ts';
import { createFinalizer, type Deps as FinalizerDeps } from './finalize.ts';
import { findPayment } from './find-payment.ts';
import { callInSlot, closeAt, mayTakeOnce, toOpenedPayment, verifyAt } from './gateway-calls.ts';
import { outcomeOf } from './outcome.ts';

export interface Deps extends FinalizerDeps {
  orders: Orders;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  publicBaseUrl: string;
  /** An earlier try of the activity broke off. */
  isRetry: () => boolean;
}

export interface VerifyPaymentRequest extends VerifyRequest {
  id: string;
}

export const createVerifyPayment = (deps: Deps) => {
  const { paymentOutcomes, publicBaseUrl, isRetry } = deps;
  const { finalize, afterFinalized, recordWaiting } = createFinalizer(deps);

  return {
    /**
     * Verifies once at the gateway and records the result.
     * @throws ApplicationFailure GatewayBusy
     */
    async verifyPayment({
      id,
      returned,
      cancelled = false,
      reported = false,
    }: VerifyPaymentRequest): Promise<VerificationResult> {
      const payment = await findPayment(paymentOutcomes, id);
      if (isTerminal(payment.status))
        return afterFinalized(payment, { inDoubt: reported || isRetry() });
      const { reference } = payment;
      if (reference === null) return { kind: 'waiting' };
      const opened = toOpenedPayment(payment, reference, publicBaseUrl);
      const mayTake = mayTakeOnce(deps, payment);

      const { result: answer, exchanges } = await callInSlot(deps, payment, async (gateway) => {
        const first = await verifyAt(gateway, opened, mayTake);
        const canClose = cancelled && first.state === 'waiting' && gateway.expire;
        return canClose ? closeAt(gateway, opened, mayTake) : first;
      });
      if (answer.state === 'unknown')
        return recordWaiting(payment, 'unknown', { becomesProcessing: returned, exchanges });
      // The gateway also says `expired` if an earlier try closed the payment for the same reason.
      const isCancelled = cancelled && answer.state === 'expired';
      const outcome = outcomeOf(payment, isCancelled ? { state: 'cancelled' } : answer);
      if (outcome) return finalize(payment, outcome, { exchanges });
      const isProcessing = answer.state === 'processing';
      return recordWaiting(payment, isProcessing ? 'processing' : 'waiting', {
        becomesProcessing: isProcessing || returned,
        exchanges,
      });
    },
  };
};
