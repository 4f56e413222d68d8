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
    // Not by what was found before.
    hasEnded = false;
    heard.recheck = true;
    await condition(() => hasEnded);
  });

  const deliveries = new Map<string, Promise<string>>();
  const working = new Set<unknown>();
  let unfinished = 0;
  let hasFailed = false;
  const begin = (eventId: string): void => {
    const surroundings = {
      heard: signals.listen(),
      working,
      isAsked: () => heard.recheck,
      historyIsLong,
      continueInNewRun: () => continueAsNew<typeof refund>(input),
    };
    const delivery = deliver({ id, eventId }, surroundings);
    deliveries.set(eventId, delivery);
    unfinished += 1;
    void delivery.then(
      () => (unfinished -= 1),
      () => (hasFailed = true),
    );
  };

  while (!hasFailed) {
    working.add(heard);
    const { events, againInMs } = await refundUntilAsked(input, { deliveries, heard });
    for (const eventId of events) if (!deliveries.has(eventId)) begin(eventId);
    if (againInMs === undefined) {
      working.delete(heard);
      hasEnded = true;
      // A recheck while its events are being delivered: the bank may have sent the money back.
      await condition(() => unfinished === 0 || hasFailed || heard.recheck);
      if (!heard.recheck) break;
    } else await condition(() => hasFailed || heard.recheck, againInMs);
  }
  const results = await Promise.all(deliveries.values());
  if (results.includes('exhausted')) throw webhookExhausted(`An event of ${id} was not accepted`);
};

/**
 * Asks and tells the gateway until the refund has ended, or until an event is to be delivered meanwhile. A recheck ends
 * the wait for the next try.
 */
const refundUntilAsked = async (
  input: RefundInput,
  { deliveries, heard }: { deliveries: ReadonlyMap<string, unknown>; heard: Heard },
): Promise<RefundResult> => {
  for (;;) {
    heard.recheck = false;
    const scope = new CancellationScope();
    let isOver = false;
    void condition(() => isOver || heard.recheck).then(() => scope.cancel());
    try {
      const request = { ...input, delivering: [...deliveries.keys()] };
      return await scope.run(() => refundPayment(request));
    } catch (error) {
      if (!heard.recheck) throw error;
      if (historyIsLong()) await continueAsNew<typeof refund>(input);
    } finally {
      isOver = true;
    }
  }
};

const historyIsLong = (): boolean => workflowInfo().continueAsNewSuggested;
