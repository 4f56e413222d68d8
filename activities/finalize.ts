import { createEvent } from '../contract/event.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { VerificationResult } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payment-outcomes.ts';
import type { WorkflowCalls } from '../temporal/workflow-calls.ts';
import { findPayment } from './find-payment.ts';
import { mayHaveCaptured } from './gateway-calls.ts';
import type { Log } from './log.ts';
import { alertAbout } from './log.ts';
import type { Outcome } from './outcome.ts';

export interface Deps {
  paymentOutcomes: Pick<PaymentOutcomes, 'get' | 'finalize' | 'flagDuplicates'>;
  gatewayExchanges: Pick<GatewayExchanges, 'list'>;
  workflows: Pick<WorkflowCalls, 'recheckLatePayment'>;
  now: () => Date;
  logger: Pick<Log, 'warn' | 'error'>;
}

export interface FinalizeOptions {
  /** The calls that led to the outcome; they are stored with it. */
  exchanges?: readonly GatewayExchange[];
  /** End the payment only if no payer has been sent to the gateway. */
  onlyIfUnsent?: boolean;
}

/** Ends payments, and does what follows from an end. */
export const createFinalizer = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, workflows, now, logger } = deps;

  /** Alerts admins if another payment has paid the same order, or has the same tracking code. */
  const alertDuplicates = async (paid: PaymentWithAccount): Promise<void> => {
    // Sandbox money is not real, so no payer has paid twice.
    if (paid.gatewayKind === 'sandbox') return;
    const { duplicateOf, trackingCodeOf } = await paymentOutcomes.flagDuplicates(paid);
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

  /** Whether the gateway may hold money of an ended payment, or may still capture some. */
  const mayHoldMoney = async (payment: PaymentWithAccount, inDoubt: boolean): Promise<boolean> => {
    const { id, status, failureCode, reference } = payment;
    if (status === 'paid') return false;
    if (failureCode === 'amount_mismatch') return true;
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
    if (payment.status === 'paid') await alertDuplicates(payment);
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

  return {
    afterFinalized,

    /** Ends the payment unless it has ended already, and returns its state then. */
    async finalize(
      payment: PaymentWithAccount,
      { providerMessage, ...outcome }: Outcome,
      { exchanges = [], onlyIfUnsent = false }: FinalizeOptions = {},
    ): Promise<VerificationResult> {
      const endedAt = now();
      const paidAt = outcome.status === 'paid' ? endedAt : null;
      const ended = {
        ...payment,
        ...outcome,
        paidAt,
        updatedAt: endedAt,
      };
      const event = createEvent(ended, endedAt);
      const options = { providerMessage, onlyIfUnsent, exchanges };
      if (await paymentOutcomes.finalize(ended, event, options)) return afterFinalized(ended);

      const current = await findPayment(paymentOutcomes, payment.id);
      if (!isTerminal(current.status)) return { kind: 'waiting' };
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
    },
  };
};
