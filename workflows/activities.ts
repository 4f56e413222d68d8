import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { limits } from '../contract/limits.ts';
import { noticesQueue, webhooksQueue } from '../temporal/messages.ts';

/**
 * Every activity with its timeouts and retries. A retry repeats a failure of our own (a lost worker,
 * Postgres unavailable) unless a comment says more. Operators see the summaries in the Temporal UI.
 */

/** Retries also while the gateway is unavailable. The workflow sets when the time is over. */
export const { openPayment } = proxyActivities<Activities>({
  summary: 'Opens the payment at the gateway',
  startToCloseTimeout: '25s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
});

export const { verifyPayment } = proxyActivities<Activities>({
  summary: 'Asks the gateway whether the payment is paid',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

export const { cancelPayment } = proxyActivities<Activities>({
  summary: 'Calls the payment off, unless the gateway says that it is paid',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

export const { expirePayment } = proxyActivities<Activities>({
  summary: 'Asks the gateway a last time and ends the payment',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/** Up to three calls to the gateway: an inquiry, a reversal, another inquiry. */
export const { resolveLatePayment } = proxyActivities<Activities>({
  summary: 'Looks for money that came after the end, and reverses it',
  startToCloseTimeout: '75s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Fails only when it is to be tried again in some seconds, and sets that time itself: retries add nothing to the history.
 * The workflow makes longer waits, so that they do not look like a fault in the Temporal UI.
 */
export const { refundPayment } = proxyActivities<Activities>({
  summary: 'Gives the money back at the gateway',
  startToCloseTimeout: '75s',
  // A cancel ends the wait for a retry. A try that is running goes on to its end.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

export const { replayEvent } = proxyActivities<Activities>({
  summary: 'Begins the next round of a delivery',
  startToCloseTimeout: '20s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/** Replays for some seconds, and says whether there is more. */
export const { replaySome } = proxyActivities<Activities>({
  summary: 'Replays the next events',
  startToCloseTimeout: '1m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const books = {
  heartbeatTimeout: '30s',
  // Then the day is left to the next run of the schedule.
  scheduleToCloseTimeout: '5h',
  retry: { initialInterval: '5s', maximumInterval: '10m' },
} as const;
/** They retry also while the gateway is unavailable. */
export const { listDueDays, listBook, askAboutMovements } = proxyActivities<Activities>({
  ...books,
  startToCloseTimeout: '2m',
});
/** A day of a million entries takes minutes, after a slow gateway was asked for its balance or its payouts. */
export const { finishDay } = proxyActivities<Activities>({ ...books, startToCloseTimeout: '15m' });

/** One POST: a sample that is sent twice would confuse who tests a receiver. */
export const { sendTestWebhook } = proxyActivities<Activities>({
  summary: 'Sends a signed sample to the webhook URL',
  taskQueue: webhooksQueue,
  startToCloseTimeout: (limits.attemptSeconds + 5) * 1000,
  retry: { maximumAttempts: 1 },
});

/**
 * The activity sets the documented delays between attempts itself. These intervals apply to failures of
 * our own, which repeat the attempt's number and do not count as an attempt.
 */
export const { deliverWebhook } = proxyActivities<Activities>({
  summary: 'Sends the webhook: six attempts in 14 h 36 min',
  taskQueue: webhooksQueue,
  startToCloseTimeout: (limits.attemptSeconds + 10) * 1000,
  // A cancel ends the wait for a retry. An attempt that is running goes on to its end.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '10s', maximumInterval: '1m' },
});

/**
 * Never completes: each attempt is one sweep, and sets the time of the next one itself. The interval here
 * follows a timeout, so that a lost worker does not change the pace of 30 seconds. The fixed id lets
 * operators pause the activity by name.
 */
export const { sweep } = proxyActivities<Activities>({
  activityId: 'sweep',
  summary: 'Sweeps every 30 seconds; each attempt is one sweep',
  startToCloseTimeout: '25s',
  retry: { initialInterval: '5s', backoffCoefficient: 1 },
});

/** Never completes: each attempt is one round of mails, and sets the time of the next one itself. */
export const { sendNotices } = proxyActivities<Activities>({
  activityId: 'sendNotices',
  summary: 'Sends the mails that are due, every 30 seconds',
  taskQueue: noticesQueue,
  startToCloseTimeout: '30s',
  retry: { initialInterval: '30s', backoffCoefficient: 1 },
});
