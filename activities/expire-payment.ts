import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Payment } from '../contract/payment.ts';
import type { VerificationResult } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { GatewayAdapter, GatewayStatus, MayTake, OpenedPayment } from '../gateways/gateway.ts';
import type { PaymentWithAccount } from '../postgres/payments/outcomes.ts';
import { createFinalizer } from './finalize.ts';
import { findPayment } from './find-payment.ts';
import {
  callInSlot,
  closeAt,
  mayTakeOnce,
  toOpenedPayment,
  type Unanswered,
  verifyAt,
  wasSentToOpen,
} from './gateway-calls.ts';
import { alertAbout } from './log.ts';
import { expired, failedWith, outcomeOf } from './outcome.ts';
import type { Deps } from './verify-payment.ts';

export interface ExpireRequest {
  id: string;
  /** A payment whose money is on its way stays open. */
  grace: boolean;
  /** The gateway could not be reached to open the payment. */
  unreachable: boolean;
  /** The gateway has reported a change since the last inquiry began. */
  reported?: boolean;
}

export const createExpirePayment = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, publicBaseUrl, isRetry, logger } = deps;
  const { finalize, afterFinalized, recordWaiting } = createFinalizer(deps);

  /** Records that the gateway gave no usable answer at the deadline, and alerts admins after the grace. */
  const recordUnknown = (
    payment: PaymentWithAccount,
    { grace, exchanges }: { grace: boolean; exchanges: readonly GatewayExchange[] },
  ): Promise<VerificationResult> => {
    if (!grace)
      alertAbout(logger, payment, {
        alert: 'outcome_unknown',
        message: 'The gateway does not say how an expired payment ended; it is asked again',
      });
    return recordWaiting(payment, 'unknown', { becomesProcessing: true, exchanges });
  };

  return {
    /**
     * Ends the payment at its deadline. The gateway is asked a last time about every payment that it knows:
     * Postgres may have lost the record that a payer was sent there.
     * @throws ApplicationFailure GatewayBusy
     */
    async expirePayment({
      id,
      grace,
      unreachable,
      reported = false,
    }: ExpireRequest): Promise<VerificationResult> {
      const payment = await findPayment(paymentOutcomes, id);
      if (isTerminal(payment.status))
        return afterFinalized(payment, { inDoubt: reported || isRetry() });
      const { reference } = payment;
      if (reference === null) {
        // The workflow may not know it: its run was lost, or its last try failed for another reason.
        const isUnreachable = unreachable || wasSentToOpen(await gatewayExchanges.list(id));
        const outcome = isUnreachable ? failedWith('gateway_error') : expired;
        return finalize(payment, outcome, { onlyIfUnsent: true });
      }
      const opened = toOpenedPayment(payment, reference, publicBaseUrl);
      const { result: answer, exchanges } = await callInSlot(deps, payment, (gateway) =>
        inquireAtDeadline(gateway, {
          payment,
          opened,
          mayTake: mayTakeOnce(deps, payment),
          grace,
        }),
      );
      const outcome = outcomeOf(payment, answer);
      if (outcome) return finalize(payment, outcome, { exchanges });
      if (answer.state === 'processing')
        return recordWaiting(payment, 'processing', { becomesProcessing: true, exchanges });
      return recordUnknown(payment, { grace, exchanges });
    },
  };
};

/** @returns an outcome, `processing` within the grace, or `unknown` */
const inquireAtDeadline = async (
  gateway: GatewayAdapter,
  {
    payment,
    opened,
    mayTake,
    grace,
  }: { payment: Payment; opened: OpenedPayment; mayTake: MayTake; grace: boolean },
): Promise<GatewayStatus | Unanswered> => {
  const first = await verifyAt(gateway, opened, mayTake);
  const isOnItsWay = first.state === 'processing' && grace;
  if (outcomeOf(payment, first) || first.state === 'unknown' || isOnItsWay) return first;
  const last = await closeAt(gateway, opened, mayTake);
  if (outcomeOf(payment, last)) return last;
  return { state: 'unknown', reason: 'It neither closed the payment nor gave an outcome' };
};
