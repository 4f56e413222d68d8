import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Payment } from '../contract/payment.ts';
import type { Status, VerificationResult } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayAdapter, GatewayStatus, OpenedPayment } from '../gateways/gateway.ts';
import { findDriver } from '../gateways/registry.ts';
import type { GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payment-outcomes.ts';
import { gatewayUnavailable, gatewayUnavailableUntilDeadline } from '../temporal/failures.ts';
import type { VerifyRequest } from '../temporal/messages.ts';
import type { PaymentWorkflows } from '../temporal/payment-workflows.ts';
import type { Bulkhead } from './bulkhead.ts';
import { createFinalizer } from './finalize.ts';
import { findPayment } from './find-payment.ts';
import {
  type Exchanged,
  exchangeWith,
  orUnknown,
  toGateway,
  toOpened,
  type Unanswered,
  withGatewaySlot,
} from './gateway-calls.ts';
import type { Log } from './log.ts';
import { alertAbout } from './log.ts';
import { expired, failedWith, outcomeOf } from './outcome.ts';

export interface Deps {
  paymentOutcomes: PaymentOutcomes;
  gatewayExchanges: Pick<GatewayExchanges, 'insert' | 'list'>;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  workflows: Pick<PaymentWorkflows, 'recheckLatePayment'>;
  publicBaseUrl: string;
  /** An earlier try of the activity broke off. */
  isRetry: () => boolean;
  now: () => Date;
  logger: Pick<Log, 'warn' | 'error'>;
}

/**
 * The stage of a payment at the beginning of a run. `payerReturnsAt`: it is open, and the payer of a sandbox
 * plan comes back then (ISO 8601).
 */
export type Opened =
  'open' | 'unopened' | 'delivered' | { ended: Status } | { payerReturnsAt: string };

export interface OpenRequest {
  id: string;
  /** The deadline has passed: only read the record. */
  late: boolean;
}

export interface VerifyPaymentRequest extends VerifyRequest {
  id: string;
}

export interface ExpireRequest {
  id: string;
  /** A payment whose money is on its way stays open. */
  grace: boolean;
  /** The gateway could not be reached to open the payment. */
  unreachable: boolean;
}

export const createPaymentActivities = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, gatewayOf, gatewayBulkhead } = deps;
  const { publicBaseUrl, isRetry, now, logger } = deps;

  const { finalize, afterFinalized } = createFinalizer(deps);

  const callGateway = <T>(
    payment: PaymentWithAccount,
    call: (gateway: GatewayAdapter) => Promise<T>,
    options?: { withinMs: number },
  ): Promise<Exchanged<T>> =>
    withGatewaySlot(
      gatewayBulkhead,
      payment,
      async () => {
        const exchanged = await exchangeWith(gatewayOf, payment, call);
        if ('fault' in exchanged) throw exchanged.fault;
        return exchanged;
      },
      options,
    );

  /** Records a verification without an outcome. */
  const recordWaiting = async (
    { id, driver }: PaymentWithAccount,
    kind: 'waiting' | 'processing' | 'unknown',
    { processing, exchanges }: { processing: boolean; exchanges: readonly GatewayExchange[] },
  ): Promise<VerificationResult> => {
    const isTwoStep = findDriver(driver)?.capabilities.twoStepVerify === true;
    const answer =
      kind === 'unknown'
        ? 'unanswered'
        : kind === 'processing' && isTwoStep
          ? 'verifying'
          : 'usual';
    if (await paymentOutcomes.recordInquiry(id, { processing, answer, now: now(), exchanges }))
      return { kind };
    return afterFinalized(await findPayment(paymentOutcomes, id));
  };

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
    return recordWaiting(payment, 'unknown', { processing: true, exchanges });
  };

  const wasSentToOpen = async (id: string): Promise<boolean> =>
    (await gatewayExchanges.list(id)).some(({ operation }) => operation === 'open');

  const readEnded = async (payment: PaymentWithAccount): Promise<Opened> => {
    if (payment.delivery === 'delivered' || payment.delivery === 'none') return 'delivered';
    await afterFinalized(payment);
    return { ended: payment.status };
  };

  const open = async (payment: PaymentWithAccount, timeLeftMs: number): Promise<Opened> => {
    const { id } = payment;
    const { result: opening, exchanges } = await callGateway(
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
      if (await wasSentToOpen(id)) throw gatewayUnavailableUntilDeadline();
      return 'unopened';
    },

    /**
     * Verifies once at the gateway and records the result.
     * @throws ApplicationFailure GatewayBusy
     */
    async verifyPayment({
      id,
      returned,
      cancelled = false,
    }: VerifyPaymentRequest): Promise<VerificationResult> {
      const payment = await findPayment(paymentOutcomes, id);
      if (isTerminal(payment.status)) return afterFinalized(payment, { inDoubt: isRetry() });
      const { reference } = payment;
      if (reference === null) return { kind: 'waiting' };
      const opened = toOpened(payment, reference, publicBaseUrl);

      const { result: answer, exchanges } = await callGateway(payment, async (gateway) => {
        const first = await verify(gateway, opened);
        const canClose = cancelled && first.state === 'waiting' && gateway.expire;
        return canClose ? close(gateway, opened) : first;
      });
      if (answer.state === 'unknown')
        return recordWaiting(payment, 'unknown', { processing: returned, exchanges });
      // The gateway also says `expired` if an earlier try closed the payment for the same reason.
      const isCancelled = cancelled && answer.state === 'expired';
      const outcome = outcomeOf(payment, isCancelled ? { state: 'cancelled' } : answer);
      if (outcome) return finalize(payment, outcome, { exchanges });
      const isProcessing = answer.state === 'processing';
      return recordWaiting(payment, isProcessing ? 'processing' : 'waiting', {
        processing: isProcessing || returned,
        exchanges,
      });
    },

    /**
     * Ends the payment at its deadline. The gateway is asked a last time about every payment that it knows:
     * Postgres may have lost the record that a payer was sent there.
     * @throws ApplicationFailure GatewayBusy
     */
    async expirePayment({ id, grace, unreachable }: ExpireRequest): Promise<VerificationResult> {
      const payment = await findPayment(paymentOutcomes, id);
      if (isTerminal(payment.status)) return afterFinalized(payment, { inDoubt: isRetry() });
      const { reference } = payment;
      if (reference === null) {
        // The workflow may not know it: its run was lost, or its last try failed for another reason.
        const isUnreachable = unreachable || (await wasSentToOpen(id));
        const outcome = isUnreachable ? failedWith('gateway_error') : expired;
        return finalize(payment, outcome, { onlyIfUnsent: true });
      }
      const opened = toOpened(payment, reference, publicBaseUrl);
      const { result: answer, exchanges } = await callGateway(payment, (gateway) =>
        inquireAtDeadline(gateway, { payment, opened, grace }),
      );
      const outcome = outcomeOf(payment, answer);
      if (outcome) return finalize(payment, outcome, { exchanges });
      if (answer.state === 'processing')
        return recordWaiting(payment, 'processing', { processing: true, exchanges });
      return recordUnknown(payment, { grace, exchanges });
    },
  };
};

const openedFor = (payerReturnsAt: Date | null | undefined): Opened =>
  payerReturnsAt ? { payerReturnsAt: payerReturnsAt.toISOString() } : 'open';

const verify = (
  gateway: GatewayAdapter,
  opened: OpenedPayment,
): Promise<GatewayStatus | Unanswered> => orUnknown(() => gateway.verify(opened));

/** @returns an outcome, `processing` within the grace, or `unknown` */
const inquireAtDeadline = async (
  gateway: GatewayAdapter,
  { payment, opened, grace }: { payment: Payment; opened: OpenedPayment; grace: boolean },
): Promise<GatewayStatus | Unanswered> => {
  const first = await verify(gateway, opened);
  const isOnItsWay = first.state === 'processing' && grace;
  if (outcomeOf(payment, first) || first.state === 'unknown' || isOnItsWay) return first;
  const last = await close(gateway, opened);
  if (outcomeOf(payment, last)) return last;
  return { state: 'unknown', reason: 'It neither closed the payment nor gave an outcome' };
};

/** Makes the payment unpayable if the gateway can, and asks again if it did not confirm that. */
const close = async (
  gateway: GatewayAdapter,
  opened: OpenedPayment,
): Promise<GatewayStatus | Unanswered> => {
  const closed = gateway.expire ? await orUnknown(async () => gateway.expire?.(opened)) : true;
  return closed === true ? { state: 'expired' } : verify(gateway, opened);
};
