import type { Info } from '@temporalio/activity';
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  noEvent,
  webhookAttemptFailed,
  webhookExhausted,
  webhookPostponed,
} from '../temporal/failure-types.ts';
import type { Consequence, Deliveries, Delivery } from '../postgres/deliveries.ts';
import type { SecretBox } from '../postgres/secret-box.ts';
import type { Log } from './log.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { TargetRule } from '../webhooks/address.ts';
import { webhookUrlProblem } from '../webhooks/address.ts';
import type { WebhookDispatcher } from '../webhooks/connector.ts';
import type { ErrorClass } from '../webhooks/failure.ts';
import type { WebhookResult } from '../webhooks/request.ts';
import { post } from '../webhooks/request.ts';
import type { Step } from '../webhooks/schedule.ts';
import { attemptsPerRound, delaysMs, nextStep, toleranceMs } from '../webhooks/schedule.ts';
import { createHeaders } from '../webhooks/signature.ts';

/**
 * When the engine handed out this try of an activity, by its own clock; the worker hands it in.
 * @throws Error where the engine has given the try up meanwhile
 */
export type ActivityStartedAt = (
  task: Pick<Info, 'workflowExecution' | 'activityId' | 'attempt'>,
) => Promise<Date>;

export interface Deps {
  deliveries: Deliveries;
  secretBox: Pick<SecretBox, 'open'>;
  dispatcher: Pick<WebhookDispatcher, 'dispatch'>;
  targetRule: TargetRule;
  deliveryBulkhead: Bulkhead;
  activityStartedAt: ActivityStartedAt;
  now: () => Date;
  logger: Pick<Log, 'info' | 'warn'>;
}

const failure = (errorClass: ErrorClass, error: string): WebhookResult => ({
  durationMs: 0,
  responseStatus: null,
  errorClass,
  error,
  responseBody: null,
  responseTruncated: false,
});

export const createDeliveryActivities = (deps: Deps) => {
  const { deliveries, secretBox, dispatcher, targetRule, deliveryBulkhead, now, logger } = deps;

  /**
   * When this try came, by the engine's clock. After a crash of the engine that may be long before it
   * was due: it hands out anew what its queues had, also what waits for a retry since. Its clock is
   * asked only where the try is not due by ours, as otherwise only while a test skips time.
   */
  const cameAt = async (scheduledAt: Date, { attempts }: Delivery): Promise<Date> => {
    const isDue = scheduledAt.getTime() <= now().getTime() + toleranceMs;
    if (isDue || attempts.length === 0) return scheduledAt;
    const activityStartedAt = await deps.activityStartedAt(activityInfo());
    return activityStartedAt < scheduledAt ? activityStartedAt : scheduledAt;
  };

  const find = async (id: string): Promise<Delivery> => {
    const delivery = await deliveries.get(id);
    if (delivery) return delivery;
    throw ApplicationFailure.nonRetryable(`${id} has not ended, it has no event`, noEvent);
  };

  const send = async (delivery: Delivery, number: number): Promise<WebhookResult> => {
    const { webhookUrl: url, event, application } = delivery;
    if (url === null) return failure('no_url', 'The application has no webhook URL any more');
    const problem = webhookUrlProblem(url, targetRule);
    if (problem) return failure('blocked', `The webhook URL ${problem}`);
    const secrets = delivery.secrets.map((sealed) => secretBox.open(sealed, application));
    return post({
      url,
      body: event.body,
      dispatcher,
      signal: cancellationSignal(),
      headers: createHeaders({ event, attempt: number, secrets, now: now() }),
    });
  };

  /** `delayMs`: until the next attempt of the round; undefined after the last one. */
  const consequenceOf = (
    { errorClass }: WebhookResult,
    delayMs: number | undefined,
  ): Consequence => {
    if (errorClass === null) return { status: 'delivered' };
    if (delayMs === undefined) return { status: 'exhausted', run: runId() };
    return { status: 'pending', nextAttemptAt: new Date(now().getTime() + delayMs) };
  };

  return {
    /**
     * One try of a delivery: at most one POST. The engine repeats it with the documented delays.
     * @throws ApplicationFailure WebhookAttemptFailed (with the delay), WebhookPostponed (no place for
     * another one of this application), WebhookExhausted (final)
     */
    async deliverWebhook({ id, isReset }: DeliverRequest): Promise<'delivered' | 'none'> {
      const scheduledAt = new Date(activityInfo().currentAttemptScheduledTimestampMs);
      let delivery = await find(id);
      if (delivery.status === 'exhausted') {
        // Only a reset by hand begins another round. Else it is the run that used the round up and could
        // not report it, or one that heals the workflow and came just after: it is reported now.
        if (!isReset || delivery.exhaustedByRun === runId()) throw exhausted(id);
        await deliveries.beginRound(id, now());
        delivery = await find(id);
      }
      if (delivery.status === 'delivered' || delivery.status === 'none') return delivery.status;

      const step = nextStep(delivery, { dueAt: await cameAt(scheduledAt, delivery), now: now() });
      if (step.kind === 'exhausted') throw exhausted(id);
      if (step.kind === 'wait')
        throw attemptFailed('Came back before the documented delay', step.ms);

      // Before anything is written: waiting for a place costs neither a row nor an attempt.
      const place = deliveryBulkhead.take(delivery.application, id);
      if (!place.entered) throw postponed(delivery.application, place.retryAfterMs);
      try {
        return await attempt(delivery, step, scheduledAt);
      } finally {
        place.leave();
      }
    },
  };

  /** One POST with its row in the ledger, before and after. */
  async function attempt(
    delivery: Delivery,
    { number, indexInRound }: Extract<Step, { kind: 'attempt' }>,
    scheduledAt: Date,
  ): Promise<'delivered'> {
    const { paymentId: id, application, round } = delivery;
    const begun = await deliveries.beginAttempt(id, {
      number,
      round,
      scheduledAt,
      startedAt: now(),
    });
    if (!begun) throw overtaken(number);
    const result = await send(delivery, number);
    const delayMs = delaysMs[indexInRound - 1];
    const consequence = consequenceOf(result, delayMs);
    const completion = { result, consequence, completedAt: now() };
    if (!(await deliveries.completeAttempt(id, number, completion))) throw overtaken(number);

    const facts = {
      payment_id: id,
      application,
      attempt: number,
      error_class: result.errorClass,
      duration_ms: result.durationMs,
    };
    if (consequence.status === 'delivered') {
      logger.info(facts, 'Webhook delivered');
      return 'delivered';
    }
    logger.warn({ ...facts, response_status: result.responseStatus }, 'Webhook attempt failed');
    if (delayMs === undefined) throw exhausted(id);
    throw attemptFailed(`Attempt ${number}: ${result.error}`, delayMs);
  }
};

export interface DeliverRequest {
  id: string;
  /** Whether the run was made by a reset. */
  isReset: boolean;
}

const runId = () => activityInfo().workflowExecution?.runId ?? '';

const postponed = (application: string, nextRetryDelay: number) =>
  ApplicationFailure.create({
    type: webhookPostponed,
    message: `Other deliveries of ${application} take all its places`,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });

const exhausted = (id: string) =>
  ApplicationFailure.nonRetryable(
    `The event of ${id} was not accepted in ${attemptsPerRound} attempts`,
    webhookExhausted,
  );

/** An earlier try that was given up has completed the attempt just now: what follows is read anew. */
const overtaken = (number: number) =>
  attemptFailed(`Attempt ${number} was completed by an earlier try`, 1_000);

const attemptFailed = (message: string, nextRetryDelay: number) =>
  ApplicationFailure.create({
    type: webhookAttemptFailed,
    message,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
