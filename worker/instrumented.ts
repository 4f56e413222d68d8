import type { Log } from '../activities/log.ts';
import { alerts as alertNames } from '../contract/alerts.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';
import type { Deliveries } from '../postgres/deliveries.ts';
import type { PaymentOutcomes } from '../postgres/payment-outcomes.ts';
import type { Logger } from '../telemetry/log.ts';
import { logContext } from '../telemetry/log.ts';

/**
 * Collaborators of the activities with what operators want to see of them around each, so that the
 * activities know nothing of it.
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
  async get(id) {
    const payment = await paymentOutcomes.get(id);
    nameApplication(payment);
    return payment;
  },
  async finalize(ended, event, how) {
    const isEnd = await paymentOutcomes.finalize(ended, event, how);
    if (!isEnd) return false;
    const { gateway, status, failureCode } = ended;
    outcomes.inc({ gateway, status, failure_code: failureCode ?? 'none' });
    timeToOutcome.observe({ status }, secondsBetween(ended.createdAt, event.createdAt));
    logger.info({ gateway, status, failure_code: failureCode }, 'Payment ended');
    return true;
  },
});

const results = { delivered: 'delivered', pending: 'retried', exhausted: 'exhausted' } as const;

export const instrumentDeliveries = (
  deliveries: Deliveries,
  { attempts, attemptLateness }: Pick<WorkerMetrics, 'attempts' | 'attemptLateness'>,
): Deliveries => ({
  ...deliveries,
  async get(paymentId) {
    const delivery = await deliveries.get(paymentId);
    nameApplication(delivery);
    return delivery;
  },
  async beginAttempt(paymentId, attempt) {
    const begun = await deliveries.beginAttempt(paymentId, attempt);
    if (begun?.dueAt) attemptLateness.observe(secondsBetween(begun.dueAt, attempt.startedAt));
    return begun;
  },
  async completeAttempt(paymentId, number, completion) {
    if (!(await deliveries.completeAttempt(paymentId, number, completion))) return false;
    const { result, consequence } = completion;
    const error_class = result.errorClass ?? 'none';
    attempts.inc({ result: results[consequence.status], error_class });
    return true;
  },
});

export const instrumentGateways =
  (gatewayOf: AdapterOf, { gatewayCalls }: Pick<WorkerMetrics, 'gatewayCalls'>): AdapterOf =>
  (account, listener) =>
    gatewayOf(account, (exchange) => {
      const { operation, result, durationMs } = exchange;
      gatewayCalls.observe({ gateway: account.gateway, operation, result }, durationMs / 1000);
      return listener?.(exchange);
    });

/**
 * The log of the activities, whose alerts are counted, each from 0 on: of a counter that begins with
 * its first count nobody sees that it grew.
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

/** For the log lines that follow in this activity. */
const nameApplication = (of: { application: string } | undefined) => {
  const context = logContext.getStore();
  if (context && of) context['application'] = of.application;
};

const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, (to.getTime() - from.getTime()) / 1000);
