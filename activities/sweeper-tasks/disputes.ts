import type { KnownDispute } from '../../contract/dispute.ts';
import { isTerminal } from '../../contract/status.ts';
import type { AdapterOf } from '../../gateways/adapters.ts';
import type { DisputeLook, Disputes } from '../../postgres/payments/disputes.ts';
import type { GatewayExchanges } from '../../postgres/gateways/exchanges.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../../postgres/payments/outcomes.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { exchangeWith, toOpenedPayment, unknownIfSilent } from '../gateway-calls.ts';
import { alertAbout, type Log } from '../log.ts';
import { forEachOrThrow, taskTimeMs } from './limited.ts';

export interface Deps {
  disputes: Pick<Disputes, 'claimLooks' | 'recordLook'>;
  paymentOutcomes: Pick<PaymentOutcomes, 'get' | 'flagDuplicates'>;
  gatewayExchanges: Pick<GatewayExchanges, 'replaceRepeated'>;
  gatewayOf: AdapterOf;
  publicBaseUrl: string;
  workflows: Pick<WorkflowCalls, 'restart'>;
  now: () => Date;
  logger: Log;
}

const batchSize = 50;
const atOnce = 5;

/**
 * Asks gateways about the disputes of payments, once somebody has reported one and then daily while one is open. A
 * notification and the book only cause a look, so it does not matter which of them comes first.
 */
export const createDisputeTask = (deps: Deps) => {
  const {
    disputes,
    paymentOutcomes,
    gatewayExchanges,
    gatewayOf,
    publicBaseUrl,
    workflows,
    now,
    logger,
  } = deps;

  /** A bank gives back what a chargeback had lost, although another payment has paid the order since. */
  const alertIfPaidTwice = async (
    payment: PaymentWithAccount,
    reported: readonly KnownDispute[],
  ): Promise<void> => {
    const { status: ended, gatewayKind, amountLost } = payment;
    if (ended !== 'paid' || gatewayKind === 'sandbox' || amountLost === 0) return;
    if (reported.some(({ status }) => status === 'lost')) return;
    const { duplicateOf } = await paymentOutcomes.flagDuplicates(payment);
    if (duplicateOf === null) return;
    alertAbout(logger, payment, {
      alert: 'duplicate_payment',
      message: 'A lost chargeback was won after another payment had paid the order',
      facts: { other: duplicateOf },
    });
  };

  const lookAt = async (look: DisputeLook): Promise<void> => {
    const payment = await paymentOutcomes.get(look.paymentId);
    if (!payment) return;
    if (payment.reference === null) {
      // It never will be opened, so no later look could find anything.
      if (isTerminal(payment.status)) await disputes.recordLook(look, [], now());
      return;
    }
    const opened = toOpenedPayment(payment, payment.reference, publicBaseUrl);
    const called = await exchangeWith(gatewayOf, payment, (gateway) =>
      unknownIfSilent(async () => gateway.disputes?.(opened) ?? []),
    );
    if (called.exchanges.length > 0)
      await gatewayExchanges.replaceRepeated(
        called.exchanges.map((exchange) => ({ ...exchange, paymentId: look.paymentId })),
      );
    if ('fault' in called) throw called.fault;
    if ('state' in called.result) {
      const facts = { payment_id: look.paymentId, reason: called.result.reason };
      logger.warn(facts, 'The gateway did not report its disputes; a later sweep will retry');
      return;
    }
    // Before the record: a look that breaks off alerts again.
    await alertIfPaidTwice(payment, called.result);
    for (const { gatewayReference, unknownStatus } of called.result)
      if (unknownStatus !== undefined)
        alertAbout(logger, payment, {
          alert: 'dispute_unknown',
          message: 'A dispute has a status that is not known here; it holds its amount',
          facts: { reference: gatewayReference, status: unknownStatus },
        });
    const events = (await disputes.recordLook(look, called.result, now())) ?? [];
    const { id, application, orderId } = payment;
    for (const ownEventId of events)
      // The sweeper heals the delivery if the start fails.
      await workflows.restart({ id, application, orderId, ownEventId }).catch(() => {});
  };

  return {
    /** @returns how many payments it asked about */
    async lookAtDisputes(): Promise<number> {
      const looks = await disputes.claimLooks(batchSize);
      const limits = { atOnce, until: performance.now() + taskTimeMs, logger };
      await forEachOrThrow(
        looks.map((look) => ({ ...look, id: look.paymentId })),
        limits,
        lookAt,
      );
      return looks.length;
    },
  };
};
