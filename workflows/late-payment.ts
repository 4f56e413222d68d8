import {
  CancellationScope,
  continueAsNew,
  defineSignal,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { givingBack } from './activities.ts';
import { type LatePaymentInput, recheckSignal } from '../temporal/messages.ts';

const minuteMs = 60_000;
/** What is taken meanwhile can be given back for half an hour. */
const longestPauseMs = 10 * minuteMs;
const patienceMs = 24 * 60 * minuteMs;

/**
 * Money that may have come after a payment's end without being paid: it goes back, and the payment stays
 * as it ended. A gateway that does not say how it stands is asked for a day, then people are.
 */
export async function latePayment(input: LatePaymentInput): Promise<void> {
  // A cancel request from the Temporal UI does not leave money where it is.
  await CancellationScope.nonCancellable(() => settle(input));
}

const settle = async ({ id, until = Date.now() + patienceMs }: LatePaymentInput): Promise<void> => {
  let news = false;
  setHandler(defineSignal(recheckSignal), () => {
    news = true;
  });
  for (let pauseMs = minuteMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Whoever comes back again and again makes it long; the next run asks first, so it needs no news.
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof latePayment>({ id, until });
    const last = Date.now() >= until;
    news = false;
    const done = await givingBack.resolveLatePayment({ id, last });
    // Who came back while the gateway was asked may have paid after it had looked.
    const over = done === 'over';
    if (over ? !news : last) return;
    if (!over)
      await sleep(pauseMs, {
        summary: 'It is not certain where the money is, the gateway is asked again',
      });
  }
};
