import { allHandlersFinished, condition, workflowInfo } from '@temporalio/workflow';
import type { DeliveryResult } from '../activities/delivery.ts';
import { activityFailureType } from '../temporal/failures.ts';
import { deliverWebhook } from './activities.ts';
import { cancelWhen } from './cancel-when.ts';
import type { Say } from './details.ts';
import { historyIsLong } from './history.ts';
import type { PendingSignals } from './signals.ts';

/** The event to deliver. */
interface Delivery {
  /** The payment or the refund; a dispute's payment. */
  id: string;
  /** By default the payment's one event. */
  eventId?: string;
}

/** The workflow around a delivery. */
interface DeliveryContext {
  /** A subscription of its own. */
  pending: PendingSignals;
  /** The work that still goes on in the workflow, this delivery included. */
  working: Set<unknown>;
  /** Whether something else of the workflow is still to be done. */
  isAsked: () => boolean;
  continueInNewRun: () => Promise<void>;
  say: Say;
}

/** The context of a delivery. Without `working` and `isAsked` the workflow does nothing else. */
export const deliveryContext = ({
  pending,
  say,
  continueInNewRun,
  working = new Set(),
  isAsked = () => false,
}: Pick<DeliveryContext, 'pending' | 'say' | 'continueInNewRun'> &
  Partial<Pick<DeliveryContext, 'working' | 'isAsked'>>): DeliveryContext => ({
  pending,
  working,
  isAsked,
  continueInNewRun,
  say,
});

const says = {
  delivered: 'The application has accepted it.',
  none: 'The application has no webhook URL.',
  exhausted: 'Six attempts have failed.',
  postponed: 'It waits for a delivery slot of its application. The sweeper wakes it.',
} as const;

/**
 * Delivers an event. A recheck wakes a delivery that was postponed. A replay ends the wait for the next attempt, and
 * goes on when another round has begun, also if the rest of the workflow is not over.
 */
export const deliver = async (
  delivery: Delivery,
  { pending, working, isAsked, continueInNewRun, say }: DeliveryContext,
): Promise<'delivered' | 'none' | 'exhausted'> => {
  const part = delivery.eventId === undefined ? 'Webhook' : `Webhook ${delivery.eventId}`;
  for (;;) {
    say(part, 'It is being sent. Pending Activities has attempts that failed.');
    working.add(pending);
    Object.assign(pending, { recheck: false, delivery: false });
    const result = await deliverUntilReplayed(delivery, pending);
    if (result !== 'replayed') say(part, says[result]);
    if (result === 'postponed') {
      await condition(() => pending.recheck || historyIsLong());
      if (historyIsLong()) await continueInNewRun();
      continue;
    }
    if (result === 'replayed') continue;
    working.delete(pending);
    const isOver = () => working.size === 0 && !isAsked() && allHandlersFinished();
    await condition(() => pending.delivery || isOver());
    // Temporal repeats the last task if a signal comes while the run closes, so none is lost.
    if (!pending.delivery) return result;
  }
};

/** An attempt that is running ends first. The wait for the next attempt ends at once. */
const deliverUntilReplayed = async (
  delivery: Delivery,
  pending: PendingSignals,
): Promise<DeliveryResult | 'exhausted' | 'replayed'> => {
  const { runId, originalExecutionRunId } = workflowInfo();
  try {
    const request = { ...delivery, isReset: runId !== originalExecutionRunId };
    return await cancelWhen(
      () => pending.delivery,
      () => deliverWebhook(request),
    );
  } catch (error) {
    if (activityFailureType(error) === 'WebhookExhausted') return 'exhausted';
    if (pending.delivery) return 'replayed';
    throw error;
  }
};
