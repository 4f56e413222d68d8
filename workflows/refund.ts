import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import type { RefundResult } from '../activities/refund-payment.ts';
import { webhookExhausted } from '../temporal/failures.ts';
import { finishRefundUpdate, type RefundInput } from '../temporal/messages.ts';
import { refundPayment } from './activities.ts';
import { cancelWhen } from './cancel-when.ts';
import { deliver, deliveryContext } from './delivery.ts';
import { createDetails, type Say } from './details.ts';
import { historyIsLong } from './history.ts';
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
  const say = createDetails();
  const isAsked = () => !hasEnded || pending.recheck;
  const deliveries = createDeliveries(input, signals, { isAsked, say });

  do {
    hasEnded = false;
    say('Refund', 'The gateway is asked.');
    const result = await tryUntilAnswered(input, deliveries.eventIds(), pending);
    deliveries.begin(result.events);
    hasEnded = result.againInMs === undefined;
    say('Refund', saysOf(result));
    const next = waitForRecheck(pending, result);
    // Without a delivery there is no end of all.
    const isWaiting = !hasEnded && deliveries.eventIds().length === 0;
    await (isWaiting ? next : Promise.race([deliveries.end(), next]));
    if (isWaiting && historyIsLong() && allHandlersFinished())
      await continueAsNew<typeof refund>(input);
    // A recheck while its events are being delivered: the bank may have sent the money back.
  } while (!hasEnded || pending.recheck);
  if ((await deliveries.end()).includes('exhausted'))
    throw webhookExhausted(`An event of ${input.id} was not accepted`);
};

/** The deliveries of the refund's events, which go on side by side. Each event's begins once. */
const createDeliveries = (
  input: RefundInput,
  signals: Signals,
  { isAsked, say }: { isAsked: () => boolean; say: Say },
) => {
  const begun = new Map<string, ReturnType<typeof deliver>>();
  const working = new Set<unknown>();
  return {
    eventIds: () => [...begun.keys()],

    begin(eventIds: readonly string[]): void {
      for (const eventId of eventIds.filter((id) => !begun.has(id))) {
        const delivery = deliver(
          { id: input.id, eventId },
          deliveryContext({
            pending: signals.subscribe(),
            say,
            working,
            isAsked,
            continueInNewRun: () => continueAsNew<typeof refund>(input),
          }),
        );
        begun.set(eventId, delivery);
      }
    },

    /** Waits until all are over, and nothing else of the workflow is to be done. */
    end: () => Promise.all(begun.values()),
  };
};

/**
 * Asks and tells the gateway, with short waits as retries. A recheck ends the wait for the next try.
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

/** Waits until the refund is to be asked about. The Temporal UI shows why. */
const waitForRecheck = (
  pending: PendingSignals,
  { againInMs, says }: RefundResult,
): Promise<unknown> =>
  againInMs === undefined
    ? condition(() => pending.recheck)
    : condition(() => pending.recheck, againInMs, { ...(says !== undefined && { summary: says }) });

/** For who looks at the workflow. An activity of before says nothing. */
const saysOf = ({ says = 'It has been asked about', againInMs }: RefundResult): string =>
  againInMs === undefined
    ? `${says}.`
    : `${says}. The gateway is asked again at ${new Date(Date.now() + againInMs).toISOString()}.`;
