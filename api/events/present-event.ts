import { z } from 'zod';
import { EventResponse } from '../../contract/event-responses.ts';
import { formatObject, type JsonText } from '../../contract/json-text.ts';
import { limits } from '../../contract/limits.ts';
import { isoTime } from '../../contract/time.ts';
import type {
  EventAttempt,
  EventRecord,
  EventWithAttempts,
} from '../../postgres/webhooks/events.ts';

export const eventParams = z.object({ event_id: EventResponse.shape.event_id });

export interface LinkContext {
  publicBaseUrl: string;
  /** The caller's webhook URL: without one no event can be replayed. */
  webhookUrl: string | null;
}

const jsonTime = (time: Date | string | null): string | null => time && isoTime(new Date(time));
const object = (fields: Parameters<typeof formatObject>[0]): JsonText => ({
  jsonText: formatObject(fields),
});

/** The next attempt waits for no delay. */
export const isDue = ({ nextAttemptAt }: EventRecord): boolean =>
  nextAttemptAt !== null && nextAttemptAt <= new Date();

const fieldsOf = (event: EventRecord, { publicBaseUrl, webhookUrl }: LinkContext) => {
  const api = `${publicBaseUrl}/api/v1`;
  const canReplay = event.status !== 'none' && !isDue(event) && webhookUrl !== null;
  return {
    event_id: event.id,
    event: event.kind,
    created_at: isoTime(event.createdAt),
    payment_id: event.paymentId,
    order_id: event.orderId,
    test: event.test,
    delivery: object({
      status: event.status,
      round: event.round,
      attempts_left:
        event.status === 'pending' ? Math.max(limits.attemptsPerRound - event.attemptsMade, 0) : 0,
      next_attempt_at: jsonTime(event.nextAttemptAt),
      delivered_at: jsonTime(event.deliveredAt),
    }),
    links: object({
      payment: `${api}/payments/${event.paymentId}`,
      replay: canReplay ? `${api}/events/${event.id}/replay` : null,
    }),
  };
};

const presentAttempt = (attempt: EventAttempt): string =>
  formatObject({
    number: attempt.number,
    round: attempt.round,
    trigger: attempt.trigger,
    started_at: jsonTime(attempt.startedAt),
    completed_at: jsonTime(attempt.completedAt),
    duration_ms: attempt.durationMs,
    response_status: attempt.responseStatus,
    error: attempt.errorClass,
    response_body: attempt.responseBody,
    response_truncated: attempt.responseBody !== null && attempt.responseTruncated === true,
  });

/** The bytes of the webhook, unchanged: their signature still verifies. */
const payloadOf = (body: Buffer): JsonText => ({ jsonText: body.toString() });

/** An event in a list. */
export const presentEventSummary = (event: EventRecord, context: LinkContext): string =>
  formatObject({
    ...fieldsOf(event, context),
    ...(event.body && { payload: payloadOf(event.body) }),
  });

/** One event. */
export const presentEvent = (event: EventWithAttempts, context: LinkContext): string =>
  formatObject({
    ...fieldsOf(event, context),
    payload: payloadOf(event.body),
    attempts: { jsonText: `[${event.attempts.map(presentAttempt).join()}]` },
  });
