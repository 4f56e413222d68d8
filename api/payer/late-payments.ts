import { setTimeout as sleep } from 'node:timers/promises';
import type { Payment } from '../../contract/payment.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import type { GatewayBudget } from './gateway-budget.ts';

export interface Deps {
  payments: Pick<Payments, 'claimLateSearch' | 'unclaimLateSearch'>;
  recheckLatePayment: WorkflowCalls['recheckLatePayment'];
  budget: Pick<GatewayBudget, 'take' | 'giveBack'>;
  logger: Pick<Logger, 'warn'>;
}

const withinMaxMs = 10_000;
/** Left for the start of a search that had to wait. */
const withinMinMs = 1_000;

/**
 * Searches for late money when a payer returns to a payment that has ended. Two limits bound the searches: the
 * pauses of a payment, which its row has, and the budget of a gateway.
 */
export const createSearchLate = ({ payments, recheckLatePayment, budget, logger }: Deps) => {
  /** Never throws: the payer continues. */
  return async (
    { id, gateway }: Pick<Payment, 'id' | 'gateway'>,
    withinMs: number = withinMaxMs,
  ): Promise<void> => {
    // First, so that a page beyond the budget costs Postgres nothing.
    const waitMs = budget.take(gateway, 'late');
    if (waitMs === undefined) return;
    try {
      const askAt = await payments.claimLateSearch(id);
      if (!askAt) return budget.giveBack(gateway, 'late');
      try {
        if (waitMs > 0) await sleep(waitMs);
        await recheckLatePayment(id, {
          withinMs: Math.max(withinMs - waitMs, withinMinMs),
          askAt: askAt.getTime(),
        });
      } catch (error) {
        await payments.unclaimLateSearch(id);
        throw error;
      }
    } catch (error) {
      logger.warn(
        { payment_id: id, err: error },
        'Could not start the late-payment search of a return; a notification or another return may',
      );
    }
  };
};
export type SearchLate = ReturnType<typeof createSearchLate>;
