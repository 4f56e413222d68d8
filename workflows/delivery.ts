import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliveryResult } from '../activities/delivery.ts';
import { activityFailureType } from '../temporal/failures.ts';
import { deliverWebhook } from './activities.ts';
import type { Heard } from './signals.ts';

/** The event to deliver. */
interface Delivery {
  /** The payment or the refund. */
  id: string;
  /** By default the payment's one event. */
  eventId?: string;
}

/** The workflow around a delivery. */
interface Surroundings {
  heard: Heard;
  historyIsLong: () => boolean;
  /** Continues in a new run, unless a recheck is pending. */
  continueInNewRun: () => Promise<void>;
}

/**
 * Delivers an event. A recheck wakes a delivery that was postponed. A replay ends the wait for the next attempt, and
 * goes on when another round has begun.
 */
export const deliver = async (
  delivery: Delivery,
  { heard, historyIsLong, continueInNewRun }: Surroundings,
): Promise<'delivered' | 'none' | 'exhausted'> => {
  for (;;) {
    Object.assign(heard, { recheck: false, delivery: false });
    const result = await deliverUntilReplayed(delivery, heard);
    if (result === 'postponed') {
      setCurrentDetails('Waits for a delivery slot of its application. The sweeper wakes it.');
      await condition(() => heard.recheck || historyIsLong());
      if (historyIsLong()) await continueInNewRun();
      setCurrentDetails('');
      continue;
    }
    await condition(allHandlersFinished);
    // Temporal repeats the last task if a signal comes while the run closes, so none is lost.
    if (!heard.delivery && result !== 'replayed') return result;
  }
};

/** An attempt that is running ends first. The wait for the next attempt ends at once. */
const deliverUntilReplayed = async (
  delivery: Delivery,
  heard: Heard,
): Promise<DeliveryResult | 'exhausted' | 'replayed'> => {
  const { runId, originalExecutionRunId } = workflowInfo();
  const scope = new CancellationScope();
  let isOver = false;
  void condition(() => isOver || heard.delivery).then(() => scope.cancel());
  try {
    const request = { ...delivery, isReset: runId !== originalExecutionRunId };
    return await scope.run(() => deliverWebhook(request));
  } catch (error) {
    if (activityFailureType(error) === 'WebhookExhausted') return 'exhausted';
    if (heard.delivery) return 'replayed';
    throw error;
  } finally {
    isOver = true;
  }
};
