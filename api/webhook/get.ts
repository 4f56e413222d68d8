import { isoTime } from '../../contract/time.ts';
import { WebhookResponse } from '../../contract/webhook-response.ts';
import type { Receivers } from '../../postgres/webhooks/receivers.ts';
import type { Handler, RouteSpec } from '../http/route.ts';

const exampleWebhook: WebhookResponse = {
  state: 'failing',
  since: '2026-11-20T10:47:41.123+00:00',
  waiting: 12,
  exhausted: 0,
  last_error: 'timeout',
  last_accepted_at: '2026-11-20T10:39:02.456+00:00',
  next_attempt_at: '2026-11-20T11:17:37.789+00:00',
};

export const getWebhookRoute = {
  tag: 'Events',
  summary: 'Get the health of the webhook URL',
  description:
    "How the receiver takes the events of the token's mode, and what waits for it. A monitor may ask each minute. " +
    'A receiver is unwell from the third failed attempt of an event on, 6 minutes after the first one.',
  responses: {
    200: {
      description: 'The state, and the events that wait.',
      content: WebhookResponse,
      examples: { failing: exampleWebhook },
    },
  },
  errors: [],
} as const satisfies RouteSpec;

export interface Deps {
  receivers: Pick<Receivers, 'get'>;
}

export const getWebhookHandler =
  ({ receivers }: Deps): Handler<'application', typeof getWebhookRoute> =>
  async ({ caller }) => {
    const health = await receivers.get(caller.application, caller.mode === 'test');
    if (!health) throw new Error(`The application ${caller.application} has no row`);
    const { state, since, waiting, exhausted, lastError, lastAcceptedAt, nextAttemptAt } = health;
    const webhook: WebhookResponse = {
      state: state ?? 'none',
      since: since && isoTime(since),
      waiting,
      exhausted,
      last_error: lastError,
      last_accepted_at: lastAcceptedAt && isoTime(lastAcceptedAt),
      next_attempt_at: nextAttemptAt && isoTime(nextAttemptAt),
    };
    return { status: 200, body: JSON.stringify(webhook) };
  };
