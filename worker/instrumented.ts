import type { Deps as NoticeDeps } from '../activities/notices.ts';
import type { Log } from '../activities/log.ts';
import type { SweeperTasks } from '../activities/sweeper-tasks/index.ts';
import { alerts as alertNames } from '../contract/alerts.ts';
import { noticeResults } from '../contract/notice.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { Deliveries } from '../postgres/webhooks/deliveries.ts';
import type { PaymentOutcomes } from '../postgres/payments/outcomes.ts';
import type { Logger } from '../telemetry/log.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';

/**
 * The collaborators of the activities, wrapped with metrics and log lines for operators, so that the
 * activities do not deal with either.
 */
export const instrumentPaymentOutcomes = (
  paymentOutcomes: PaymentOutcomes,
  {
    metrics: { outcomes, timeToOutcome },
    logger,
  }: {
    metrics: Pick<WorkerMetrics, 'outcomes' | 'timeToOutcome'>;
    logger: Pick<Logger, 'info'>;
  },
): PaymentOutcomes => ({
  ...paymentOutcomes,
  async finalize(ended, event, options) {
    const finalized = await paymentOutcomes.finalize(ended, event, options);
    if (finalized !== 'done') return finalized;
    const { application, gateway, gatewayKind = 'live', status, failureCode } = ended;
    outcomes.inc({ gateway, kind: gatewayKind, status, failure_code: failureCode ?? 'none' });
    timeToOutcome.observe({ status }, secondsBetween(ended.createdAt, event.createdAt));
    const facts = { application, gateway, status, failure_code: failureCode };
    logger.info(facts, 'Payment ended');
    return finalized;
  },
});

const attemptResults = {
  delivered: 'delivered',
  pending: 'retried',
  exhausted: 'exhausted',
} as const;

export const instrumentDeliveries = (
  deliveries: Deliveries,
  { attempts, attemptLateness }: Pick<WorkerMetrics, 'attempts' | 'attemptLateness'>,
): Deliveries => ({
  ...deliveries,
  async beginAttempt(eventId, attempt) {
    const begun = await deliveries.beginAttempt(eventId, attempt);
    if (begun?.dueAt) {
      const mode = begun.test ? 'test' : 'live';
      attemptLateness.observe({ mode }, secondsBetween(begun.dueAt, attempt.startedAt));
    }
    return begun;
  },
  async completeAttempt(eventId, number, completion) {
    if (!(await deliveries.completeAttempt(eventId, number, completion))) return false;
    const { result, consequence } = completion;
    const error_class = result.errorClass ?? 'none';
    attempts.inc({ result: attemptResults[consequence.status], error_class });
    return true;
  },
});

export const instrumentGateways =
  (gatewayOf: AdapterOf, { gatewayCalls }: Pick<WorkerMetrics, 'gatewayCalls'>): AdapterOf =>
  (account, listener, tryMs) =>
    gatewayOf(
      account,
      (exchange) => {
        const { operation, result, durationMs } = exchange;
        const { gateway, gatewayKind: kind } = account;
        gatewayCalls.observe({ gateway, kind, operation, result }, durationMs / 1000);
        return listener?.(exchange);
      },
      tryMs,
    );

export const instrumentSweeperTasks = (
  tasks: SweeperTasks,
  { swept, sweeperLastSuccess }: Pick<WorkerMetrics, 'swept' | 'sweeperLastSuccess'>,
): SweeperTasks => {
  const instrument = (task: keyof SweeperTasks) => async () => {
    const count = await tasks[task]();
    sweeperLastSuccess.setToCurrentTime({ task });
    swept.inc({ task }, count);
    return count;
  };
  return {
    startOutboxWorkflows: instrument('startOutboxWorkflows'),
    inquireAtGateways: instrument('inquireAtGateways'),
    healPayments: instrument('healPayments'),
    wakePostponedDeliveries: instrument('wakePostponedDeliveries'),
    deleteExpiredIdempotencyKeys: instrument('deleteExpiredIdempotencyKeys'),
    eraseOldPayers: instrument('eraseOldPayers'),
    lookAtDisputes: instrument('lookAtDisputes'),
    lookAtPayouts: instrument('lookAtPayouts'),
    endLinks: instrument('endLinks'),
    watchReceivers: instrument('watchReceivers'),
    renewRefundTokens: instrument('renewRefundTokens'),
  };
};

/** Each result starts at 0, for the same reason as alerts. */
export const countNotices = ({
  notices,
}: Pick<WorkerMetrics, 'notices'>): NoticeDeps['countNotices'] => {
  for (const result of [...noticeResults, 'retried']) notices.inc({ result }, 0);
  return (result, many = 1) => notices.inc({ result }, many);
};

/**
 * The log of the activities, with a counter of its alerts. Each counter starts at 0: if it started at its
 * first alert, Prometheus would not see it increase.
 */
export const instrumentLogger = (
  logger: Logger,
  { alerts }: Pick<WorkerMetrics, 'alerts'>,
): Log => {
  for (const alert of alertNames) alerts.inc({ alert }, 0);
  return {
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error(facts, message) {
      alerts.inc({ alert: facts.alert });
      logger.error(facts, message);
    },
  };
};

const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, (to.getTime() - from.getTime()) / 1000);
