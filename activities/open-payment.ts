import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Status } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payment-outcomes.ts';
import { gatewayUnavailable, gatewayUnavailableUntilDeadline } from '../temporal/failures.ts';
import type { Bulkhead } from './bulkhead.ts';
import { createFinalizer, type Deps as FinalizerDeps } from './finalize.ts';
import { findPayment } from './find-payment.ts';
import { callInSlot, unknownIfSilent, toGateway, wasSentToOpen } from './gateway-calls.ts';
import { alertAbout } from './log.ts';
import { failedWith, type Outcome } from './outcome.ts';

export interface Deps extends FinalizerDeps {
  paymentOutcomes: PaymentOutcomes;
  gatewayExchanges: Pick<GatewayExchanges, 'insert' | 'list'>;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  publicBaseUrl: string;
}

/**
 * The stage of a payment at the beginning of a run. `payerReturnsAt`: the payer of a sandbox plan comes back then
 * (ISO 8601).
 */
export type Stage =
  | { stage: 'unopened' }
  | { stage: 'open'; payerReturnsAt?: string }
  | { stage: 'ended'; status: Status };

export interface OpenRequest {
  id: string;
  /** Only read the record. */
  afterDeadline: boolean;
}

export const createOpenPayment = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, publicBaseUrl, now, logger } = deps;
  const { finalize, afterFinalized } = createFinalizer(deps);

  const readEnded = async (payment: PaymentWithAccount): Promise<Stage> => {
    // It is done before the first delivery is over, and alerts once.
    if (payment.delivery === 'pending' && payment.round === 1) await afterFinalized(payment);
    return { stage: 'ended', status: payment.status };
  };

  const endUnsent = async (
    payment: PaymentWithAccount,
    outcome: Outcome,
    exchanges: readonly GatewayExchange[] = [],
  ): Promise<Stage> => {
    // An earlier try may have opened the payment, and its payer may be at the gateway now.
    const result = await finalize(payment, outcome, { exchanges, onlyIfUnsent: true });
    return result.kind === 'ended' ? { stage: 'ended', status: result.status } : { stage: 'open' };
  };

  const open = async (payment: PaymentWithAccount, timeLeftMs: number): Promise<Stage> => {
    const { id } = payment;
    const { result: opening, exchanges } = await callInSlot(
      deps,
      payment,
      (gateway) => unknownIfSilent(() => gateway.open(toGateway(payment, publicBaseUrl))),
      // A retry after the deadline would come too late.
      { withinMs: timeLeftMs / 2 },
    );
    if ('state' in opening) {
      await gatewayExchanges.insert(id, exchanges);
      throw gatewayUnavailable(opening.reason);
    }
    if (opening.result === 'refused') {
      const { code, message, failureCode = 'merchant_configuration' } = opening;
      if (failureCode === 'merchant_configuration')
        alertAbout(logger, payment, {
          alert: failureCode,
          message: 'The gateway refused to open a payment',
          facts: { code },
        });
      const outcome = failedWith(failureCode, { code, message });
      return endUnsent(payment, outcome, exchanges);
    }
    if (await paymentOutcomes.recordOpened(id, { ...opening, exchanges }))
      return openStage(opening.payer?.returnsAt);
    const current = await findPayment(paymentOutcomes, id);
    return isTerminal(current.status) ? readEnded(current) : openStage(current.payerReturnsAt);
  };

  /**
   * Reads how far the payment has come, and opens it at its gateway if that is still to be done.
   * @throws ApplicationFailure GatewayUnavailable, GatewayBusy
   */
  const openPayment = async ({ id, afterDeadline }: OpenRequest): Promise<Stage> => {
    const payment = await findPayment(paymentOutcomes, id);
    if (isTerminal(payment.status)) return readEnded(payment);
    if (payment.reference !== null) return openStage(payment.payerReturnsAt);
    if (afterDeadline) return { stage: 'unopened' };
    if (payment.orderIsPaid) {
      const stage = await endUnsent(payment, failedWith('order_already_paid'));
      // The order was given back meanwhile, or another try has opened the payment.
      return stage.stage === 'ended' ? stage : openPayment({ id, afterDeadline });
    }
    const timeLeftMs = payment.expiresAt.getTime() - now().getTime();
    if (timeLeftMs > 0) return open(payment, timeLeftMs);
    if (wasSentToOpen(await gatewayExchanges.list(id))) throw gatewayUnavailableUntilDeadline();
    return { stage: 'unopened' };
  };

  return { openPayment };
};

const openStage = (payerReturnsAt: Date | null | undefined): Stage => ({
  stage: 'open',
  ...(payerReturnsAt && { payerReturnsAt: payerReturnsAt.toISOString() }),
});
