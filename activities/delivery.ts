import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { AttemptResult, ErrorClass } from '../contract/attempt.ts';
import { eventId as paymentEventId } from '../contract/ids.ts';
import { limits } from '../contract/limits.ts';
import type { Consequence, Deliveries, Delivery } from '../postgres/webhooks/deliveries.ts';
import type { SecretBox } from '../postgres/secrets/secret-box.ts';
import {
  eventNotFound,
  webhookAttemptFailed,
  webhookExhausted,
  webhookPostponed,
} from '../temporal/failures.ts';
import type { ActivityStartedAt } from '../temporal/activity-started-at.ts';
import type { TargetRule } from '../webhooks/address.ts';
import { webhookUrlProblem } from '../webhooks/address.ts';
import type { WebhookDispatcher } from '../webhooks/connector.ts';
import { post } from '../webhooks/request.ts';
import type { Step } from '../webhooks/schedule.ts';
import { nextStep, toleranceMs } from '../webhooks/schedule.ts';
import { createHeaders } from '../webhooks/signature.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { Log } from './log.ts';

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

export interface DeliverRequest {
  /** The payment or the refund; a dispute's payment. */
  id: string;
  /** By default the payment's one event. */
  eventId?: string;
  /** A reset started the run. */
  isReset: boolean;
}

export type DeliveryResult = 'delivered' | 'none' | 'postponed';

export const createDeliveryActivities = (deps: Deps) => {
  const { deliveries, secretBox, dispatcher, targetRule, deliveryBulkhead, now, logger } = deps;

  /**
   * When this attempt reached the worker, by Temporal's clock. After a crash Temporal hands out its
   * queued tasks again, also a retry whose time has not come. Temporal is asked only if the attempt is
   * not due by our clock, which happens otherwise only while a test skips time.
   */
  const receivedAt = async (scheduledAt: Date, { attempts }: Delivery): Promise<Date> => {
    const isDue = scheduledAt.getTime() <= now().getTime() + toleranceMs;
    if (isDue || attempts.length === 0) return scheduledAt;
    const startedAt = await deps.activityStartedAt(activityInfo());
    return startedAt < scheduledAt ? startedAt : scheduledAt;
  };

  const find = async ({ id, eventId = paymentEventId(id) }: DeliverRequest): Promise<Delivery> => {
    const delivery = await deliveries.get(eventId);
    if (!delivery) throw eventNotFound(id);
    return delivery;
  };

  const send = async (delivery: Delivery, number: number): Promise<AttemptResult> => {
    const { webhookUrl: url, event, application, traceparent } = delivery;
    if (url === null) return notSent('no_url', 'The application has no webhook URL any more');
    const problem = webhookUrlProblem(url, targetRule);
    if (problem) return notSent('blocked', `The webhook URL ${problem}`);
    const secrets = delivery.secrets.map((sealed) => secretBox.open(sealed, application));
    return post({
      url,
      body: event.body,
      dispatcher,
      signal: cancellationSignal(),
      headers: createHeaders({ event, attempt: number, secrets, traceparent, now: now() }),
    });
  };

  /** @param delayMs until the next attempt of the round; undefined after the last one */
  const consequenceOf = (
    { errorClass }: AttemptResult,
    delayMs: number | undefined,
  ): Consequence => {
    if (errorClass === null) return { status: 'delivered' };
    if (delayMs === undefined) return { status: 'exhausted', run: runId() };
    return { status: 'pending', nextAttemptAt: new Date(now().getTime() + delayMs) };
  };

  /** Sends one POST, with its row in the ledger written before and completed after. */
  const attempt = async (
    delivery: Delivery,
    { number, delayMs }: Extract<Step, { kind: 'attempt' }>,
    scheduledAt: Date,
  ): Promise<'delivered'> => {
    const { paymentId: id, application, round, event } = delivery;
    const row = { number, round, scheduledAt, startedAt: now() };
    if (!(await deliveries.beginAttempt(event.id, row))) throw overtaken(number);
    const result = await send(delivery, number);
    const consequence = consequenceOf(result, delayMs);
    const completion = { result, consequence, completedAt: now() };
    if (!(await deliveries.completeAttempt(event.id, number, completion))) throw overtaken(number);

    const facts = {
      payment_id: id,
      event_id: event.id,
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
    throw webhookAttemptFailed(`Attempt ${number}: ${result.error}`, delayMs);
  };

  return {
    /**
     * Makes at most one attempt to deliver the event. Temporal retries after the documented delays.
     * @returns `postponed` if too many deliveries of the application wait: the sweeper says when to go on
     * @throws ApplicationFailure WebhookAttemptFailed, WebhookPostponed, WebhookExhausted (final)
     */
    async deliverWebhook(request: DeliverRequest): Promise<DeliveryResult> {
      const { id, isReset } = request;
      const scheduledAt = new Date(activityInfo().currentAttemptScheduledTimestampMs);
      let delivery = await find(request);
      if (delivery.status === 'exhausted') {
        // A run begins a round only if an operator has reset the workflow by hand. Any other run either used up
        // the round itself and could not report it, or heals the workflow and came just after the end of it.
        if (!isReset || delivery.exhaustedByRun === runId()) throw exhausted(id);
        const start = { from: ['exhausted'], trigger: 'admin', now: now() } as const;
        await deliveries.replay(delivery.event.id, start);
        delivery = await find(request);
      }
      if (delivery.status === 'delivered' || delivery.status === 'none') return delivery.status;

      const dueAt = await receivedAt(scheduledAt, delivery);
      const step = nextStep(delivery, { dueAt, now: now() });
      if (step.kind === 'exhausted') throw exhausted(id);
      if (step.kind === 'wait')
        throw webhookAttemptFailed('The documented delay is not over yet', step.ms);

      // Before the ledger is written: waiting for a slot costs neither a row nor an attempt.
      const slot = deliveryBulkhead.acquire(delivery.application, id, {
        isBacklogged: delivery.postponed,
      });
      if (!slot.acquired) {
        if (!slot.lineIsFull) throw webhookPostponed(delivery.application, slot.retryAfterMs);
        await deliveries.postpone(delivery.event.id, now());
        return 'postponed';
      }
      let failed = true;
      try {
        const result = await attempt(delivery, step, scheduledAt);
        failed = false;
        return result;
      } finally {
        slot.free({ failed });
      }
    },
  };
};

const runId = () => activityInfo().workflowExecution?.runId ?? '';

/** An attempt that failed before anything was sent. */
const notSent = (errorClass: ErrorClass, error: string): AttemptResult => ({
  durationMs: 0,
  responseStatus: null,
  errorClass,
  error,
  responseBody: null,
  responseTruncated: false,
});

const exhausted = (id: string) =>
  webhookExhausted(`The event of ${id} was not accepted in ${limits.attemptsPerRound} attempts`);

/** A try that Temporal had given up has completed the attempt. The retry reads the ledger again. */
const overtaken = (number: number) =>
  webhookAttemptFailed(`An earlier try has completed attempt ${number}`, 1_000);
