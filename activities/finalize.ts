import { createEvent } from '../contract/event.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Payment } from '../contract/payment.ts';
import type { VerificationResult } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { PaymentWithAccount, PaymentOutcomes } from '../postgres/payment-outcomes.ts';
import { wasInDoubt } from './gateway-calls.ts';
import type { Log } from './log.ts';
import type { Outcome } from './outcome.ts';
import type { PaymentWorkflows } from './payment-workflows.ts';

export interface Deps {
  paymentOutcomes: Pick<PaymentOutcomes, 'finalize' | 'flagDuplicates'>;
  gatewayExchanges: Pick<GatewayExchanges, 'list'>;
  find: (id: string) => Promise<Tried>;
  workflows: Pick<PaymentWorkflows, 'startLate'>;
  now: () => Date;
  logger: Pick<Log, 'error'>;
}

/** A payment in one try, with what was said to its gateway in it. */
export type Tried = PaymentWithAccount & { exchanges: GatewayExchange[] };

/** How payments end, and what people and other workflows are to know of it. */
export const createFinalizer = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, find, workflows, now, logger } = deps;

  /** A second payment of an order, and a receipt that comes twice, are facts: people look at them. */
  const doubt = async (paid: Payment): Promise<void> => {
    const { duplicateOf, trackingCodeOf } = await paymentOutcomes.flagDuplicates(paid);
    const facts = { payment_id: paid.id, gateway: paid.gateway };
    if (duplicateOf !== null)
      logger.error(
        { ...facts, alert: 'duplicate_payment', other: duplicateOf },
        'Its order was paid by another payment as well',
      );
    if (trackingCodeOf !== null)
      logger.error(
        { ...facts, alert: 'duplicate_tracking_code', other: trackingCodeOf },
        'Its tracking code belongs to another payment as well',
      );
  };

  /**
   * What follows an end, and may be done again: a try that finds the payment ended does not know
   * whether the one that ended it broke off before this.
   */
  const asEnded = async (payment: Tried): Promise<VerificationResult> => {
    if (payment.status === 'paid') await doubt(payment);
    if (payment.failureCode === 'amount_mismatch')
      logger.error({ payment_id: payment.id, alert: 'amount_mismatch' }, 'Another amount was paid');
    if (await mayHaveMoney(payment)) await workflows.startLate(payment.id);
    return { kind: 'ended', status: payment.status };
  };

  /** Whether money may have been taken, or may yet be, of a payment that has ended. */
  const mayHaveMoney = async ({ id, status, failureCode, sent }: Tried): Promise<boolean> => {
    if (status === 'paid') return false;
    if (failureCode === 'amount_mismatch') return true;
    // All that is kept of what was heard counts, in this try, in earlier ones, and in one that broke off.
    return sent && wasInDoubt(await gatewayExchanges.list(id));
  };

  return {
    asEnded,

    /** Ends the payment unless it has ended already; either way says how it stands then. */
    async end(
      payment: Tried,
      outcome: Outcome,
      { unsent = false } = {},
    ): Promise<VerificationResult> {
      const endedAt = now();
      const { exchanges } = payment;
      const { words, ...fields } = outcome;
      const paidAt = outcome.status === 'paid' ? endedAt : null;
      const ended: Tried = { ...payment, ...fields, paidAt, updatedAt: endedAt };
      if (
        await paymentOutcomes.finalize(ended, createEvent(ended, endedAt), {
          providerMessage: words,
          onlyIfUnsent: unsent,
          exchanges,
        })
      )
        return asEnded(ended);
      const standing = await find(payment.id);
      if (!isTerminal(standing.status)) return { kind: 'waiting' };
      try {
        return await asEnded(standing);
      } catch (error) {
        // This try has taken the money, and another one has said before that nobody paid. The engine may
        // have given this one up by now, and then nobody repeats it.
        const hasTaken = outcome.status === 'paid' || outcome.failureCode === 'amount_mismatch';
        if (hasTaken && standing.status !== 'paid')
          logger.error(
            { payment_id: payment.id, gateway: payment.gateway, alert: 'late_payment', err: error },
            'Money was taken for a payment that had ended, and nobody may be looking for it',
          );
        throw error;
      }
    },
  };
};
