import type { WorkflowStart } from '../../contract/payment.ts';
import type { SweeperQueries } from '../../postgres/payments/sweeper.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import type { Log } from '../log.ts';
import { forEachOrThrow, taskTimeMs } from './limited.ts';

export interface Deps {
  sweeperQueries: Pick<
    SweeperQueries,
    | 'countOverdueDeliveries'
    | 'claimStalledPayments'
    | 'claimOverdueDeliveries'
    | 'claimOverdueRefunds'
  >;
  workflows: Pick<WorkflowCalls, 'restart' | 'recheck' | 'deliver'>;
  logger: Log;
}

const startsAtOnce = 50;
const batchSize = 500;
const mostCounted = 1_000;

/** Starts the lost workflows of stalled payments, overdue deliveries and overdue refunds again. */
export const createHealingTask = ({ sweeperQueries, workflows, logger }: Deps) => {
  /** @param payment without what a delivery has if the payment has not ended */
  const heal = async (payment: WorkflowStart & { begun?: boolean; atOnce?: boolean }) => {
    // A workflow may run without knowing that the payment has ended: no attempt was made yet, or Temporal
    // was restored from a backup and waits for the payer. A start would not change a running workflow.
    if (payment.atOnce) await workflows.deliver(payment);
    else if (payment.begun === false || payment.expiresAt > new Date())
      await workflows.recheck(payment, { unlessEnded: true });
    else await workflows.restart(payment);
    logger.info(
      { payment_id: payment.id, application: payment.application },
      'Made sure that the workflow of a payment runs',
    );
  };

  return {
    /** @returns how many payments and refunds it healed */
    async healPayments(): Promise<number> {
      const overdue = await sweeperQueries.countOverdueDeliveries(mostCounted);
      if (overdue > 0)
        logger.error(
          { overdue, alert: 'deliveries_overdue' },
          'Deliveries are more than 2 minutes overdue',
        );
      const lost = [
        ...(await sweeperQueries.claimStalledPayments(batchSize)),
        ...(await sweeperQueries.claimOverdueDeliveries(batchSize)),
      ];
      const limits = { atOnce: startsAtOnce, until: performance.now() + taskTimeMs, logger };
      await forEachOrThrow(lost, limits, heal);
      const refunds = await sweeperQueries.claimOverdueRefunds(batchSize);
      await forEachOrThrow(refunds, limits, (refund) => workflows.recheck(refund));
      return lost.length + refunds.length;
    },
  };
};
