import { ApplicationFailure } from '@temporalio/common';
import { gatewayUnavailable, paymentNotFound } from '../temporal/failure-types.ts';
import type { Status, VerificationResult } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { GatewayAdapter } from '../gateways/gateway.ts';
import { GatewayUnavailable } from '../gateways/errors.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import { findDriver } from '../gateways/registry.ts';
import type { GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes } from '../postgres/payment-outcomes.ts';
import { withGatewaySlot, orUnknown, toGateway, toOpened } from './gateway-calls.ts';
import type { Tried } from './finalize.ts';
import { createFinalizer } from './finalize.ts';
import type { Log } from './log.ts';
import type { Reply } from './outcome.ts';
import { expired, failedWith, outcomeOf } from './outcome.ts';
import type { PaymentWorkflows } from './payment-workflows.ts';
import type { Bulkhead } from './bulkhead.ts';

export interface Deps {
  paymentOutcomes: PaymentOutcomes;
  gatewayExchanges: Pick<GatewayExchanges, 'insert' | 'list'>;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  workflows: Pick<PaymentWorkflows, 'startLate'>;
  publicBaseUrl: string;
  now: () => Date;
  logger: Pick<Log, 'error'>;
}

/** How far a payment's life has come when a run begins. */
export type Opened = 'open' | 'unopened' | 'delivered' | { ended: Status };

export const createPaymentActivities = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, gatewayOf, gatewayBulkhead } = deps;
  const { publicBaseUrl, now, logger } = deps;

  const find = async (id: string): Promise<Tried> => {
    const payment = await paymentOutcomes.get(id);
    if (payment) return { ...payment, exchanges: [] };
    throw ApplicationFailure.nonRetryable(`There is no record of ${id}`, paymentNotFound);
  };

  const { end, asEnded } = createFinalizer({ ...deps, find });

  const tryAtGateway = <T>(
    payment: Tried,
    work: (gateway: GatewayAdapter) => Promise<T>,
    how?: { withinMs: number },
  ) =>
    withGatewaySlot(
      gatewayBulkhead,
      payment,
      () => work(gatewayOf(payment, (said) => payment.exchanges.push(said))),
      how,
    );

  const verify = async (
    gateway: GatewayAdapter,
    payment: Tried,
    reference: string,
  ): Promise<Reply> => orUnknown(() => gateway.verify(toOpened(payment, reference, publicBaseUrl)));

  /** Records that there is no outcome yet. */
  const wait = async (
    { id, driver, exchanges }: Tried,
    kind: 'waiting' | 'processing' | 'unknown',
    processing: boolean,
  ): Promise<VerificationResult> => {
    // What a two-step gateway is still verifying may go back unless it is asked to go on.
    const isVerifying =
      kind === 'processing' && findDriver(driver)?.capabilities.twoStepVerify === true;
    const unanswered = kind === 'unknown' || isVerifying;
    const facts = { processing, unanswered, now: now(), exchanges };
    if (await paymentOutcomes.recordInquiry(id, facts)) return { kind };
    return asEnded(await find(id));
  };

  return {
    /** Says what stands; opens the payment at its gateway where that is still to be done. */
    async openPayment({ id, late }: { id: string; late: boolean }): Promise<Opened> {
      const payment = await find(id);
      if (isTerminal(payment.status)) return openedAfterEnd(payment);
      if (payment.reference !== null) return 'open';
      const leftMs = payment.expiresAt.getTime() - now().getTime();
      if (late) return 'unopened';
      if (leftMs <= 0) return ranOutOfTime(payment);
      const opening = await tryAtGateway(
        payment,
        (gateway) =>
          orFailure(
            () => gateway.open(toGateway(payment, publicBaseUrl)),
            () => gatewayExchanges.insert(id, payment.exchanges),
          ),
        // Whoever is sent away for longer than the payment has left is not called again.
        { withinMs: leftMs / 2 },
      );
      if (opening.result === 'refused') {
        const { code, message } = opening;
        logger.error(
          { payment_id: id, code, alert: 'merchant_configuration' },
          'Opening was refused',
        );
        const outcome = failedWith('merchant_configuration', { code, message });
        // An earlier try may have opened it after all, and its payer may be at the gateway by now.
        const stands = await end(payment, outcome, { unsent: true });
        return stands.kind === 'ended' ? { ended: stands.status } : 'open';
      }
      if (await paymentOutcomes.recordOpened(id, { ...opening, exchanges: payment.exchanges }))
        return 'open';
      const stands = await find(id);
      return isTerminal(stands.status) ? openedAfterEnd(stands) : 'open';
    },

    /**
     * One try at the gateway. `returned`: the payer came back, so an open end is `processing`;
     * `cancelled`: by the gateway's cancel link, so it ends once nobody can pay there any more.
     */
    async verifyPayment({
      id,
      returned,
      cancelled = false,
    }: VerifyRequest): Promise<VerificationResult> {
      const payment = await find(id);
      if (isTerminal(payment.status)) return asEnded(payment);
      const { reference } = payment;
      if (reference === null) return { kind: 'waiting' };
      const reply = await tryAtGateway(payment, async (gateway) => {
        const first = await verify(gateway, payment, reference);
        const isToClose = cancelled && first.state === 'waiting' && gateway.expire;
        return isToClose ? close(gateway, payment, reference) : first;
      });
      if (reply.state === 'unknown') return wait(payment, 'unknown', returned);
      // An earlier try that broke off may have closed it for the same reason.
      const isCancelled = cancelled && reply.state === 'expired';
      const outcome = outcomeOf(payment, isCancelled ? { state: 'cancelled' } : reply);
      if (outcome) return end(payment, outcome);
      const settling = reply.state === 'processing';
      return wait(payment, settling ? 'processing' : 'waiting', settling || returned);
    },

    /**
     * The deadline: a last inquiry, then `expired`. Without an answer there is no outcome, and money
     * on its way is waited for while there is `grace`. `unreachable`: it could never be opened.
     */
    async expirePayment({ id, grace, unreachable }: ExpireRequest): Promise<VerificationResult> {
      const payment = await find(id);
      if (isTerminal(payment.status)) return asEnded(payment);
      const { reference } = payment;
      if (reference === null) {
        // The workflow may not know: its run was lost, or its last try failed for a reason of ours.
        const inVain = unreachable || (await wasToldToOpen(id));
        const outcome = inVain ? failedWith('gateway_error') : expired;
        return end(payment, outcome, { unsent: true });
      }
      if (!payment.sent) {
        const stands = await end(payment, expired, { unsent: true });
        if (stands.kind === 'ended') return stands;
        // A payer was sent off in this very moment: the gateway is asked after all.
      }
      return tryAtGateway(payment, async (gateway) => {
        const first = await verify(gateway, payment, reference);
        const outcome = outcomeOf(payment, first);
        if (outcome) return end(payment, outcome);
        if (first.state === 'unknown') return silent(payment, grace);
        if (first.state === 'processing' && grace) return wait(payment, 'processing', true);
        const last = await close(gateway, payment, reference);
        const final = outcomeOf(payment, last);
        return final ? end(payment, final) : silent(payment, grace);
      });
    },
  };

  /** @throws ApplicationFailure GATEWAY_UNAVAILABLE where the gateway was asked in vain until the end */
  async function ranOutOfTime({ id }: Tried): Promise<Opened> {
    if (!(await wasToldToOpen(id))) return 'unopened';
    throw ApplicationFailure.nonRetryable('Asked in vain until the end', gatewayUnavailable);
  }

  async function wasToldToOpen(id: string): Promise<boolean> {
    return (await gatewayExchanges.list(id)).some(({ operation }) => operation === 'open');
  }

  async function openedAfterEnd(payment: Tried): Promise<Opened> {
    if (payment.delivery === 'delivered' || payment.delivery === 'none') return 'delivered';
    await asEnded(payment);
    return { ended: payment.status };
  }

  /** Makes it unpayable at the gateway, where that can be, and reads again where it did not say yes. */
  async function close(gateway: GatewayAdapter, payment: Tried, reference: string): Promise<Reply> {
    const opened = toOpened(payment, reference, publicBaseUrl);
    const closed = gateway.expire ? await orUnknown(async () => gateway.expire?.(opened)) : true;
    return closed === true ? { state: 'expired' } : verify(gateway, payment, reference);
  }

  /** Nobody knows how it ended: that is no outcome, and past the grace somebody must hear of it. */
  async function silent(payment: Tried, grace: boolean): Promise<VerificationResult> {
    if (!grace)
      logger.error(
        { payment_id: payment.id, gateway: payment.gateway, alert: 'outcome_unknown' },
        'The gateway does not say how an expired payment ended',
      );
    return wait(payment, 'unknown', true);
  }
};

export interface VerifyRequest {
  id: string;
  returned: boolean;
  cancelled?: boolean;
}

export interface ExpireRequest {
  id: string;
  grace: boolean;
  unreachable: boolean;
}

/** A silent gateway while opening: the engine repeats the activity. */
const orFailure = async <T>(call: () => Promise<T>, keep: () => Promise<void>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
    await keep();
    throw ApplicationFailure.retryable(error.message, gatewayUnavailable);
  }
};
