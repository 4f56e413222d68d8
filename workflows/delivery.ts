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
  /** A listener of its own. */
  heard: Heard;
  /** What still goes on in the workflow, this delivery included. */
  working: Set<unknown>;
  /** Whether something that was heard is still to be done. */
  isAsked: () => boolean;
  historyIsLong: () => boolean;
  continueInNewRun: () => Promise<void>;
}

/**
 * Delivers an event. A recheck wakes a delivery that was postponed. A replay ends the wait for the next attempt, and
 * goes on when another round has begun, also if the rest of the workflow is not over.
 */
export const deliver = async (
  delivery: Delivery,
  { heard, working, isAsked, historyIsLong, continueInNewRun }: Surroundings,
): Promise<'delivered' | 'none' | 'exhausted'> => {
  for (;;) {
    working.add(heard);
    Object.assign(heard, { recheck: false, delivery: false });
    const result = await deliverUntilReplayed(delivery, heard);
    if (result === 'postponed') {
      setCurrentDetails('Waits for a delivery slot of its application. The sweeper wakes it.');
      await condition(() => heard.recheck || historyIsLong());
      if (historyIsLong()) await continueInNewRun();
      setCurrentDetails('');
      continue;
    }
    if (result === 'replayed') continue;
    working.delete(heard);
    const isOver = () => working.size === 0 && !isAsked() && allHandlersFinished();
    await condition(() => heard.delivery || isOver());
    // Temporal repeats the last task if a signal comes while the run closes, so none is lost.
    if (!heard.delivery) return result;
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
