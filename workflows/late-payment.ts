import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { type LatePaymentInput, recheckSignal } from '../temporal/messages.ts';
import { resolveLatePayment } from './activities.ts';
import { dayMs, minuteMs } from '../contract/time.ts';

/** A gateway can reverse a payment for half an hour after it was captured. */
const longestPauseMs = 10 * minuteMs;
const giveUpAfterMs = dayMs;

/**
 * Looks for money that was captured after its payment had ended, and reverses it. The payment itself
 * does not change. After a day without a clear answer from the gateway it alerts admins.
 */
export async function latePayment(input: LatePaymentInput): Promise<void> {
  // A cancel request from the Temporal UI must not leave captured money at the gateway.
  await CancellationScope.nonCancellable(() => run(input));
}

const run = async ({
  id,
  askAt = 0,
  giveUpAt = Math.max(Date.now(), askAt) + giveUpAfterMs,
}: LatePaymentInput): Promise<void> => {
  /** When the next inquiry is due; infinity: no more. An inquiry serves all who asked for one before it. */
  let dueAt = askAt;
  setHandler(defineSignal<[askAt?: number]>(recheckSignal), (at = 0) => {
    dueAt = Math.min(dueAt, at);
  });

  for (let pauseMs = minuteMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Many rechecks make the history long. The new run asks at once, so it needs no pending recheck.
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof latePayment>({ id, giveUpAt });

    if (dueAt > Date.now())
      await condition(() => dueAt <= Date.now(), dueAt - Date.now(), {
        summary: 'Earlier searches have found nothing, so this one waits',
      });
    const isLastTry = Date.now() >= giveUpAt;
    dueAt = Infinity;
    const result = await resolveLatePayment({ id, last: isLastTry });

    if (result === 'retry') {
      if (isLastTry) return;
      await sleep(pauseMs, { summary: 'The gateway has no clear answer, it is asked again' });
      dueAt = 0;
    } else if (dueAt === Infinity) return;
    // A payer who came back during the inquiry may have paid after it.
  }
};
