import type { Status } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payment-outcomes.ts';
import { gatewayUnavailable, gatewayUnavailableUntilDeadline } from '../temporal/failures.ts';
import type { Bulkhead } from './bulkhead.ts';
import { createFinalizer, type Deps as FinalizerDeps } from './finalize.ts';
import { findPayment } from './find-payment.ts';
import { callInSlot, orUnknown, toGateway, wasSentToOpen } from './gateway-calls.ts';
import { alertAbout } from './log.ts';
import { failedWith } from './outcome.ts';

export interface Deps extends FinalizerDeps {
  paymentOutcomes: PaymentOutcomes;
  gatewayExchanges: Pick<GatewayExchanges, 'insert' | 'list'>;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  publicBaseUrl: string;
}

/**
 * The stage of a payment at the beginning of a run. `payerReturnsAt`: it is open, and the payer of a sandbox
 * plan comes back then (ISO 8601).
 */
export type Opened = 'open' | 'unopened' | { ended: Status } | { payerReturnsAt: string };

export interface OpenRequest {
  id: string;
  /** The deadline has passed: only read the record. */
  late: boolean;
}

export const createOpenPayment = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, publicBaseUrl, now, logger } = deps;
  const { finalize, afterFinalized } = createFinalizer(deps);

  const readEnded = async (payment: PaymentWithAccount): Promise<Opened> => {
    // It is done before the first delivery is over, and alerts once.
    if (payment.delivery === 'pending' && payment.round === 1) await afterFinalized(payment);
    return { ended: payment.status };
  };

  const open = async (payment: PaymentWithAccount, timeLeftMs: number): Promise<Opened> => {
    const { id } = payment;
    const { result: opening, exchanges } = await callInSlot(
      deps,
      payment,
      (gateway) => orUnknown(() => gateway.open(toGateway(payment, publicBaseUrl))),
      // A retry after the deadline would come too late.
      { withinMs: timeLeftMs / 2 },
    );
    if ('state' in opening) {
      await gatewayExchanges.insert(id, exchanges);
      throw gatewayUnavailable(opening.reason);
    }
    if (opening.result === 'refused') {
      const { code, message } = opening;
      alertAbout(logger, payment, {
        alert: 'merchant_configuration',
        message: 'The gateway refused to open a payment',
        facts: { code },
      });
      const outcome = failedWith('merchant_configuration', { code, message });
      // An earlier try may have opened the payment, and its payer may be at the gateway now.
      const result = await finalize(payment, outcome, { exchanges, onlyIfUnsent: true });
      return result.kind === 'ended' ? { ended: result.status } : 'open';
    }
    if (await paymentOutcomes.recordOpened(id, { ...opening, exchanges }))
      return openedFor(opening.payer?.returnsAt);
    const current = await findPayment(paymentOutcomes, id);
    return isTerminal(current.status) ? readEnded(current) : openedFor(current.payerReturnsAt);
  };

  return {
    /**
     * Reads how far the payment has come, and opens it at its gateway if that is still to be done.
     * @throws ApplicationFailure GatewayUnavailable, GatewayBusy
     */
    async openPayment({ id, late }: OpenRequest): Promise<Opened> {
      const payment = await findPayment(paymentOutcomes, id);
      if (isTerminal(payment.status)) return readEnded(payment);
      if (payment.reference !== null) return openedFor(payment.payerReturnsAt);
      if (late) return 'unopened';
      const timeLeftMs = payment.expiresAt.getTime() - now().getTime();
      if (timeLeftMs > 0) return open(payment, timeLeftMs);
      if (wasSentToOpen(await gatewayExchanges.list(id))) throw gatewayUnavailableUntilDeadline();
      return 'unopened';
    },
  };
};

const openedFor = (payerReturnsAt: Date | null | undefined): Opened =>
  payerReturnsAt ? { payerReturnsAt: payerReturnsAt.toISOString() } : 'open';
