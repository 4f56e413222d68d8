import {
  ActivityFailure,
  ApplicationFailure,
  ApplicationFailureCategory,
  TimeoutFailure,
} from '@temporalio/common';

/**
 * The failures that activities throw on purpose. Activities make them here and workflows read them
 * here. Operators see the types in the Temporal UI. Workflows load this file.
 */
export type FailureType =
  | 'PaymentNotFound'
  | 'EventNotFound'
  | 'GatewayNotFound'
  | 'RefundNotFound'
  | 'RefundPending'
  | 'ReplayNotFound'
  | 'ReplayBusy'
  | 'GatewayUnavailable'
  | 'GatewayBusy'
  | 'WebhookAttemptFailed'
  | 'WebhookPostponed'
  | 'WebhookExhausted'
  | 'NoticesSent'
  | 'SweepCompleted'
  | 'SweepFailed';

/** There is no record of the payment: a retry cannot help. */
export const paymentNotFound = (paymentId: string): ApplicationFailure =>
  final('PaymentNotFound', `There is no record of ${paymentId}`);

/** There is no such gateway: a retry cannot help. */
export const gatewayNotFound = (gateway: string): ApplicationFailure =>
  final('GatewayNotFound', `There is no gateway ${gateway}`);

/** There is no event to deliver: the payment has not ended, or a purge has deleted it. */
export const eventNotFound = (id: string): ApplicationFailure =>
  final('EventNotFound', `There is no event of ${id}`);

/** There is no record of the refund: a retry cannot help. */
export const refundNotFound = (id: string): ApplicationFailure =>
  final('RefundNotFound', `There is no record of ${id}`);

/** The refund has not ended. Temporal asks again after the delay. */
export const refundPending = (message: string, retryAfterMs: number): ApplicationFailure =>
  expected('RefundPending', message, retryAfterMs);

/** The API records the replay after it has started the workflow, or not at all. */
export const replayNotFound = (replayId: string, isFinal: boolean): ApplicationFailure =>
  isFinal
    ? final('ReplayNotFound', `There is no record of ${replayId}`)
    : expected('ReplayNotFound', `${replayId} is not recorded yet`, 1_000);

/** The worker begins as many rounds as it may, and many more are waiting. */
export const replayBusy = (retryAfterMs: number): ApplicationFailure =>
  expected('ReplayBusy', 'Too many replays wait in this worker', retryAfterMs);

/** The gateway gave no usable answer. Temporal retries. */
export const gatewayUnavailable = (message: string): ApplicationFailure =>
  ApplicationFailure.retryable(message, type('GatewayUnavailable'));

/** The gateway gave no usable answer until the payment's deadline. */
export const gatewayUnavailableUntilDeadline = (): ApplicationFailure =>
  final('GatewayUnavailable', 'The gateway did not answer before the payment expired');

/** The gateway's bulkhead is full, and the activity has done nothing. */
export const gatewayBusy = (gateway: string, retryAfterMs: number): ApplicationFailure =>
  expected('GatewayBusy', `All slots of the gateway ${gateway} are in use`, retryAfterMs);

export const webhookAttemptFailed = (message: string, retryAfterMs: number): ApplicationFailure =>
  expected('WebhookAttemptFailed', message, retryAfterMs);

/** The application's bulkhead is full, and the activity has sent nothing. */
export const webhookPostponed = (application: string, retryAfterMs: number): ApplicationFailure =>
  expected(
    'WebhookPostponed',
    `All delivery slots of the application ${application} are in use`,
    retryAfterMs,
  );

/** The delivery's activity fails with it, and then the payment's workflow. */
export const webhookExhausted = (message: string): ApplicationFailure =>
  final('WebhookExhausted', message);

/** The sweep is complete. The retry is the next sweep. */
export const sweepCompleted = (retryAfterMs: number): ApplicationFailure =>
  expected(
    'SweepCompleted',
    'No problem: the sweep is complete, and the next attempt is the next sweep',
    retryAfterMs,
  );

/** The round of notices is complete. The retry is the next round. */
export const noticesSent = (retryAfterMs: number): ApplicationFailure =>
  expected(
    'NoticesSent',
    'No problem: the round is complete, and the next attempt is the next round',
    retryAfterMs,
  );

/** At least one task of the sweep failed. The retry is the next sweep. */
export const sweepFailed = (message: string, retryAfterMs: number): ApplicationFailure =>
  ApplicationFailure.create({
    type: type('SweepFailed'),
    message,
    nextRetryDelay: retryAfterMs,
  });

/** When an activity that failed only to be tried again is to be tried; undefined for any other error. */
export const retryDelayOf = (error: unknown): number | undefined =>
  error instanceof ApplicationFailure &&
  error.category === ApplicationFailureCategory.BENIGN &&
  typeof error.nextRetryDelay === 'number'
    ? error.nextRetryDelay
    : undefined;

/**
 * The type of an activity's last failure; `Other` if it has none of ours. A timeout hides the failure
 * of the attempt before it.
 * @returns undefined if the error is not an activity's
 */
export const activityFailureType = (error: unknown): FailureType | 'Other' | undefined => {
  if (!(error instanceof ActivityFailure)) return undefined;
  // Every type that our activities throw on purpose is a FailureType.
  return (typeOfCause(error) as FailureType | undefined) ?? 'Other';
};

const typeOfCause = ({ cause }: ActivityFailure): string | null | undefined => {
  if (cause instanceof ApplicationFailure) return cause.type;
  // The SDK makes a TimeoutFailure without its cause, which only the message from Temporal has.
  if (cause instanceof TimeoutFailure) return cause.failure?.cause?.applicationFailureInfo?.type;
  return undefined;
};

const type = (name: FailureType) => name;

/** Temporal does not retry. */
const final = (name: FailureType, message: string) =>
  ApplicationFailure.nonRetryable(message, name);

/** Temporal retries after the delay. It belongs to normal operation, so the SDK does not warn. */
const expected = (name: FailureType, message: string, nextRetryDelay: number) => {
  const failure = ApplicationFailure.create({
    type: name,
    message,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
  // The Temporal UI would show it like that of a fault.
  failure.stack = '';
  return failure;
};
