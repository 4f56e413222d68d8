import { CancellationScope, sleep } from '@temporalio/workflow';
import { givingBack } from './activities.ts';
import type { LateInput } from './messages.ts';

const minuteMs = 60_000;
/** What is taken meanwhile can be given back for half an hour. */
const longestPauseMs = 10 * minuteMs;
const patienceMs = 24 * 60 * minuteMs;

/**
 * Money that may have come after a payment's end without being paid: it goes back, and the payment stays
 * as it ended. A gateway that does not say how it stands is asked for a day, then people are.
 */
export async function late(input: LateInput): Promise<void> {
  // A cancel request from the Temporal UI does not leave money where it is.
  await CancellationScope.nonCancellable(() => settle(input));
}

const settle = async ({ id }: LateInput): Promise<void> => {
  const until = Date.now() + patienceMs;
  for (let pauseMs = minuteMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const last = Date.now() >= until;
    const done = await givingBack.settleLateMoney({ id, last });
    if (done === 'over' || last) return;
    await sleep(pauseMs, {
      summary: 'It is not certain where the money is, the gateway is asked again',
    });
  }
};
