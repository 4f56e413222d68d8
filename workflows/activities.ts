import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { webhooksQueue } from '../temporal/messages.ts';

/** Opening at the gateway: repeated until the payment expires, unless the gateway refuses. */
export const opening = (untilExpiryMs: number) =>
  proxyActivities<Activities>({
    summary: 'Opens the payment at its gateway',
    startToCloseTimeout: '25s',
    scheduleToCloseTimeout: untilExpiryMs,
    retry: { initialInterval: '1s', maximumInterval: '10s' },
  });

/** One try at the gateway and what follows in the database; repeated only for our own failures. */
export const settling = proxyActivities<Activities>({
  summary: 'Asks the gateway and records what it says',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/** One try at a gateway about money that came late: an inquiry, and perhaps a reversal and another. */
export const givingBack = proxyActivities<Activities>({
  summary: 'Looks for money that came after the end, and has it given back',
  startToCloseTimeout: '75s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * The six attempts: the activity itself gives the documented delays. These intervals are for our own
 * failures (a crash, Postgres away), which repeat a number and cost no attempt.
 */
export const delivery = proxyActivities<Activities>({
  summary: 'Sends the webhook: six attempts in 14 h 36 min',
  taskQueue: webhooksQueue,
  startToCloseTimeout: '20s',
  retry: { initialInterval: '10s', maximumInterval: '1m' },
});

/** The sweep's own: the next sweep is the retry. */
export const sweeping = proxyActivities<Activities>({
  startToCloseTimeout: '25s',
  retry: { maximumAttempts: 1 },
});
