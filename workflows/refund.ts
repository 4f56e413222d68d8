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
import { endRefundUpdate, type RefundInput } from '../temporal/messages.ts';
import { refundPayment } from './activities.ts';
import { deliver } from './delivery.ts';
import { createSignals, type Heard } from './signals.ts';

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
  const { id } = input;
  const signals = createSignals();
  const { heard } = signals;
  let hasEnded = false;
  setHandler(defineUpdate(endRefundUpdate), async () => {
    heard.recheck = true;
    await condition(() => hasEnded);
  });

  const deliveries = new Map<string, Promise<string>>();
  const working = new Set<unknown>();
  let areDelivered: boolean;
  do {
    working.add(heard);
    const { events } = await refundUntilAsked(input, heard);
    working.delete(heard);
    hasEnded = true;
    for (const eventId of events)
      if (!deliveries.has(eventId))
        deliveries.set(
          eventId,
          deliver(
            { id, eventId },
            {
              heard: signals.listen(),
              working,
              isAsked: () => heard.recheck,
              historyIsLong,
              continueInNewRun: () => continueAsNew<typeof refund>(input),
            },
          ),
        );
    areDelivered = false;
    void Promise.all(deliveries.values()).then(
      () => (areDelivered = true),
      () => (areDelivered = true),
    );
    // A recheck while its events are being delivered: the bank may have sent the money back.
    await condition(() => areDelivered || heard.recheck);
  } while (heard.recheck);
  const results = await Promise.all(deliveries.values());
  if (results.includes('exhausted')) throw webhookExhausted(`An event of ${id} was not accepted`);
};

/** Asks and tells the gateway until the refund has ended. A recheck ends the wait for the next try. */
const refundUntilAsked = async (input: RefundInput, heard: Heard): Promise<RefundResult> => {
  for (;;) {
    heard.recheck = false;
    const scope = new CancellationScope();
    let isOver = false;
    void condition(() => isOver || heard.recheck).then(() => scope.cancel());
    try {
      return await scope.run(() => refundPayment(input));
    } catch (error) {
      if (!heard.recheck) throw error;
      if (historyIsLong()) await continueAsNew<typeof refund>(input);
    } finally {
      isOver = true;
    }
  }
};

const historyIsLong = (): boolean => workflowInfo().continueAsNewSuggested;
