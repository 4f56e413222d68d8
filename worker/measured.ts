import type { GatewayAdapter } from '../gateways/gateway.ts';
import { GatewaySilence } from '../gateways/gateway.ts';
import type { GatewayRegistry } from '../gateways/registry.ts';
import type { WorkerMetrics } from '../operations/metrics.ts';
import type { Deliveries } from '../postgres/deliveries.ts';
import type { Settlements } from '../postgres/settlements.ts';
import type { Logger } from '../process.ts';
import { logContext } from '../process.ts';

/**
 * Collaborators of the activities with what operators want to see of them around each, so that the
 * activities know nothing of it.
 */
export const measuredSettlements = (
  settlements: Settlements,
  {
    metrics: { outcomes, timeToOutcome },
    logger,
  }: {
    metrics: Pick<WorkerMetrics, 'outcomes' | 'timeToOutcome'>;
    logger: Pick<Logger, 'info'>;
  },
): Settlements => ({
  ...settlements,
  async get(id) {
    const payment = await settlements.get(id);
    nameApplication(payment);
    return payment;
  },
  async end(ended, event, how) {
    const isEnd = await settlements.end(ended, event, how);
    if (!isEnd) return false;
    const { gateway, status, failureCode } = ended;
    outcomes.inc({ gateway, status, failure_code: failureCode ?? 'none' });
    timeToOutcome.observe({ status }, secondsBetween(ended.createdAt, event.createdAt));
    logger.info({ gateway, status, failure_code: failureCode }, 'Payment ended');
    return true;
  },
});

const results = { delivered: 'delivered', pending: 'retried', exhausted: 'exhausted' } as const;

export const measuredDeliveries = (
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
    const dueAt = await deliveries.beginAttempt(paymentId, attempt);
    if (dueAt) attemptLateness.observe(secondsBetween(dueAt, attempt.startedAt));
    return dueAt;
  },
  async completeAttempt(paymentId, number, completion) {
    await deliveries.completeAttempt(paymentId, number, completion);
    const { result, consequence } = completion;
    const error_class = result.errorClass ?? 'none';
    attempts.inc({ result: results[consequence.status], error_class });
  },
});

export const measuredGateways =
  (
    gatewayOf: GatewayRegistry,
    { gatewayCalls }: Pick<WorkerMetrics, 'gatewayCalls'>,
  ): GatewayRegistry =>
  (account) => {
    const adapter = gatewayOf(account);
    const timed =
      <Args extends unknown[], Answer>(
        operation: string,
        call: (...args: Args) => Promise<Answer>,
        resultOf: (answer: Answer) => string,
      ) =>
      async (...args: Args): Promise<Answer> => {
        const end = gatewayCalls.startTimer({ gateway: account.gateway, operation });
        try {
          const answer = await call(...args);
          end({ result: resultOf(answer) });
          return answer;
        } catch (error) {
          end({ result: error instanceof GatewaySilence ? 'silence' : 'error' });
          throw error;
        }
      };
    const { open, verify, inquire, expire, reverse } = adapter;
    const measured: GatewayAdapter = {
      ...adapter,
      open: timed('open', open, ({ result }) => result),
      verify: timed('verify', verify, ({ state }) => state),
      inquire: timed('inquire', inquire, ({ state }) => state),
      ...(expire && {
        expire: timed('expire', expire, (closed) => (closed ? 'expired' : 'refused')),
      }),
      ...(reverse && { reverse: timed('reverse', reverse, ({ result }) => result) }),
    };
    return measured;
  };

/** For the log lines that follow in this activity. */
const nameApplication = (of: { application: string } | undefined) => {
  const context = logContext.getStore();
  if (context && of) context['application'] = of.application;
};

const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, (to.getTime() - from.getTime()) / 1000);
