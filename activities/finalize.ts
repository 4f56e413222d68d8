import { createEvent } from '../contract/event.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { WorkflowStart } from '../contract/payment.ts';
import type { VerificationResult, WaitingAnswer } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import { findDriver } from '../gateways/registry.ts';
import type { GatewayExchanges } from '../postgres/gateways/exchanges.ts';
import type { LinkEnds } from '../postgres/links/ends.ts';
import type { Orders } from '../postgres/orders.ts';
import type {
  Duplicates,
  PaymentOutcomes,
  PaymentWithAccount,
} from '../postgres/payments/outcomes.ts';
import type { WorkflowCalls } from '../temporal/workflow-calls.ts';
import { findPayment } from './find-payment.ts';
import { mayHaveCaptured } from './gateway-calls.ts';
import type { Log } from './log.ts';
import { alertAbout } from './log.ts';
import { failedWith, type Outcome } from './outcome.ts';
import { createEndLink } from './links.ts';

export interface Deps {
  paymentOutcomes: Pick<PaymentOutcomes, 'get' | 'finalize' | 'recordInquiry' | 'flagDuplicates'>;
  orders: Pick<Orders, 'listOpen'>;
  gatewayExchanges: Pick<GatewayExchanges, 'list'>;
  workflows: Pick<WorkflowCalls, 'recheckLatePayment' | 'callOff' | 'restart'>;
  linkEnds: LinkEnds;
  now: () => Date;
  logger: Pick<Log, 'warn' | 'error'>;
}

export interface FinalizeOptions {
  /** The calls that led to the outcome; they are stored with it. */
  exchanges?: readonly GatewayExchange[];
  /** End the payment only if no payer has been sent to the gateway. */
  onlyIfUnsent?: boolean;
}

export interface RecordWaitingOptions {
  becomesProcessing: boolean;
  exchanges: readonly GatewayExchange[];
}

/** Records what an answer means for a payment: its end and what follows from that, or that it goes on. */
export const createFinalizer = (deps: Deps) => {
  const { paymentOutcomes, orders, gatewayExchanges, workflows, now, logger } = deps;
  const endLink = createEndLink(deps);

  /** Alerts admins if another payment has paid the same order, or has the same tracking code. */
  const alertDuplicates = (
    { duplicateOf, trackingCodeOf }: Duplicates,
    paid: PaymentWithAccount,
  ) => {
    if (duplicateOf !== null)
      alertAbout(logger, paid, {
        alert: 'duplicate_payment',
        message: 'Another payment has already paid the order',
        facts: { other: duplicateOf },
      });
    if (trackingCodeOf !== null)
      alertAbout(logger, paid, {
        alert: 'duplicate_tracking_code',
        message: 'Another payment has the same tracking code',
        facts: { other: trackingCodeOf },
      });
  };

  /** Has the open payments of a paid order end. It may fail: their own next inquiry finds the order paid. */
  const callOff = async (others: readonly WorkflowStart[]): Promise<void> => {
    const results = await Promise.allSettled(others.map((other) => workflows.callOff(other)));
    for (const result of results)
      if (result.status === 'rejected')
        logger.warn({ err: result.reason }, 'A payment of a paid order was not called off');
  };

  const afterPaid = async (paid: PaymentWithAccount): Promise<void> => {
    // Sandbox money is not real, so no payer has paid twice.
    if (paid.gatewayKind === 'sandbox') {
      if (paid.isPaidOnce) await callOff(await orders.listOpen(paid));
      return;
    }
    const { open, ...duplicates } = await paymentOutcomes.flagDuplicates(paid);
    alertDuplicates(duplicates, paid);
    await callOff(open);
  };

  /** Whether the gateway may hold money of an ended payment, or may still capture some. */
  const mayHoldMoney = async (payment: PaymentWithAccount, inDoubt: boolean): Promise<boolean> => {
    const { id, status, failureCode, reference } = payment;
    if (status === 'paid') return false;
    if (failureCode === 'amount_mismatch') return true;
    // Its payer may be paying while another payment pays the order.
    if (failureCode === 'order_already_paid') return reference !== null;
    // All stored exchanges count, also those of earlier tries and of a try that broke off.
    if (reference === null) return false;
    return inDoubt || mayHaveCaptured(await gatewayExchanges.list(id));
  };

  /**
   * The side effects of an end. Safe to repeat: a try that finds the payment ended cannot know whether
   * the try that ended it got this far.
   * @param options.inDoubt an earlier try broke off. It may have captured money after the answer by which
   *   another one ended the payment, and it has not stored its verification. Or the gateway has reported a change
   *   that no inquiry has seen
   */
  const afterFinalized = async (
    payment: PaymentWithAccount,
    { inDoubt = false }: { inDoubt?: boolean } = {},
  ): Promise<VerificationResult> => {
    if (payment.status === 'paid') await afterPaid(payment);
    if (payment.status === 'paid' && payment.linkId !== null)
      await endLink(payment.linkId).catch((error: unknown) => {
        const facts = { payment_id: payment.id, err: error };
        logger.warn(facts, 'Could not end the link of a paid payment; the sweeper will');
      });
    if (payment.failureCode === 'amount_mismatch')
      alertAbout(logger, payment, {
        alert: 'amount_mismatch',
        message: 'The payer paid another amount or currency',
      });
    const { id, status, payerReturnsAt, expiresAt } = payment;
    if (await mayHoldMoney(payment, inDoubt)) await workflows.recheckLatePayment(id);
    else if (status !== 'paid' && payerReturnsAt && payerReturnsAt >= expiresAt)
      await workflows.recheckLatePayment(id, { askAt: payerReturnsAt.getTime() });
    return { kind: 'ended', status };
  };

  /** Records an answer without an outcome. */
  const recordWaiting = async (
    { id, driver }: PaymentWithAccount,
    answer: WaitingAnswer,
    { becomesProcessing, exchanges }: RecordWaitingOptions,
  ): Promise<VerificationResult> => {
    const isTwoStep = findDriver(driver)?.capabilities.twoStepVerify === true;
    const inquiry = { answer, isTwoStep, becomesProcessing, now: now(), exchanges };
    if (await paymentOutcomes.recordInquiry(id, inquiry)) return { kind: answer };
    return afterFinalized(await findPayment(paymentOutcomes, id));
  };

  /** Ends the payment unless it has ended already, and returns its state then. */
  const finalize = async (
    payment: PaymentWithAccount,
    { providerMessage, reportedFee, ...outcome }: Outcome,
    { exchanges = [], onlyIfUnsent = false }: FinalizeOptions = {},
  ): Promise<VerificationResult> => {
    const endedAt = now();
    const paidAt = outcome.status === 'paid' ? endedAt : null;
    const ended = {
      ...payment,
      ...outcome,
      paidAt,
      updatedAt: endedAt,
    };
    const event = createEvent(ended, endedAt);
    const options = { providerMessage, reportedFee, onlyIfUnsent, exchanges };
    const finalized = await paymentOutcomes.finalize(ended, event, options);
    if (finalized === 'done') return afterFinalized(ended);

    const current = await findPayment(paymentOutcomes, payment.id);
    // It may have ended since then.
    const why = isTerminal(current.status) ? 'ended_before' : finalized;
    if (why !== 'ended_before' && onlyIfUnsent) return { kind: 'waiting' };
    const { trackingCode } = outcome;
    if (why === 'order_held')
      return finalize(current, { ...failedWith('order_already_paid'), trackingCode });
    // Another payment holds the order and may still fail, so this one is asked about again.
    if (why === 'order_not_paid')
      return recordWaiting(current, 'processing', { becomesProcessing: true, exchanges: [] });
    try {
      return await afterFinalized(current);
    } catch (error) {
      // This try has captured money of a payment that another try has ended as unpaid. Temporal may
      // already have given up this try, and then no retry starts the late-payment workflow.
      const outcomeHoldsMoney =
        outcome.status === 'paid' || outcome.failureCode === 'amount_mismatch';
      if (outcomeHoldsMoney && current.status !== 'paid')
        alertAbout(logger, payment, {
          alert: 'late_payment',
          message:
            'Money was captured for a payment that had ended, and its late-payment workflow did not start',
          facts: { err: error },
        });
      throw error;
    }
  };

  return { afterFinalized, finalize, recordWaiting };
};
