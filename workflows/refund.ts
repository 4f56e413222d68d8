import {
  CancellationScope,
  condition,
  continueAsNew,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { RefundResult } from '../activities/refund-payment.ts';
import { webhookExhausted } from '../temporal/failures.ts';
import { finishRefundUpdate, type RefundInput } from '../temporal/messages.ts';
import { refundPayment } from './activities.ts';
import { cancelWhen } from './cancel-when.ts';
import { deliver } from './delivery.ts';
import { createSignals, type PendingSignals, type Signals } from './signals.ts';

/**
 * The life of one refund. The workflow id is the refund's id. A run may begin at any stage, also after the end: the
 * bank may have sent the money back.
 * @throws ApplicationFailure WebhookExhausted if one of its events was not accepted
 */
export async function refund(input: RefundInput): Promise<void> {
  // A cancel request from the Temporal UI must not stop a refund.
  await CancellationScope.nonCancellable(() => run(input));
}

const run = async (input: RefundInput): Promise<void> => {
  const signals = createSignals();
  const { pending } = signals;
  let hasEnded = false;
  setHandler(defineUpdate(finishRefundUpdate), async () => {
    // Not by what was found before.
    hasEnded = false;
    pending.recheck = true;
    await condition(() => hasEnded);
  });
  const deliveries = createDeliveries(input, signals, () => !hasEnded || pending.recheck);

  do {
    hasEnded = false;
    const { events, againInMs } = await tryUntilAnswered(input, deliveries.eventIds(), pending);
    deliveries.begin(events);
    hasEnded = againInMs === undefined;
    await Promise.race([deliveries.end(), waitForRecheck(pending, againInMs)]);
    // A recheck while its events are being delivered: the bank may have sent the money back.
  } while (!hasEnded || pending.recheck);
  if ((await deliveries.end()).includes('exhausted'))
    throw webhookExhausted(`An event of ${input.id} was not accepted`);
};

/** The deliveries of the refund's events, which go on side by side. Each event's begins once. */
const createDeliveries = (input: RefundInput, signals: Signals, isAsked: () => boolean) => {
  const begun = new Map<string, ReturnType<typeof deliver>>();
  const working = new Set<unknown>();
  return {
    eventIds: () => [...begun.keys()],

    begin(eventIds: readonly string[]): void {
      for (const eventId of eventIds.filter((id) => !begun.has(id))) {
        const delivery = deliver(
          { id: input.id, eventId },
          {
            pending: signals.subscribe(),
            working,
            isAsked,
            historyIsLong,
            continueInNewRun: () => continueAsNew<typeof refund>(input),
          },
        );
        begun.set(eventId, delivery);
      }
    },

    /** Waits until all are over, and nothing else of the workflow is to be done. */
    end: () => Promise.all(begun.values()),
  };
};

/**
 * Asks and tells the gateway until the refund has ended, or until an event is to be delivered meanwhile. A recheck ends
 * the wait for the next try.
 */
const tryUntilAnswered = async (
  input: RefundInput,
  delivering: readonly string[],
  pending: PendingSignals,
): Promise<RefundResult> => {
  for (;;) {
    pending.recheck = false;
    try {
      return await cancelWhen(
        () => pending.recheck,
        () => refundPayment({ ...input, delivering }),
      );
    } catch (error) {
      if (!pending.recheck) throw error;
      if (historyIsLong()) await continueAsNew<typeof refund>(input);
    }
  }
};

/** @param withinMs by default without a limit */
const waitForRecheck = (pending: PendingSignals, withinMs?: number): Promise<unknown> =>
  withinMs === undefined
    ? condition(() => pending.recheck)
    : condition(() => pending.recheck, withinMs);

const historyIsLong = (): boolean => workflowInfo().continueAsNewSuggested;
