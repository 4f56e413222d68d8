import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { formatObject } from '../../contract/json-text.ts';
import { limits } from '../../contract/limits.ts';
import { Traceparent } from '../../contract/request-fields.ts';
import { parseTraceparent } from '../../contract/trace.ts';
import { TestWebhook, WebhookTestResponse } from '../../contract/replays.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import { createWebhookTests, type WebhookTests } from '../../postgres/webhooks/webhook-tests.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { unavailableIfTemporalIsDown } from '../http/temporal-needed.ts';
import { parseBody } from '../http/validation.ts';
import { rateLimited } from '../http/rate-limiter.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { eventExamples } from '../payments/payment-examples.ts';

const requestExamples = {
  paid: { event: 'payment.paid' },
} satisfies Record<string, z.input<typeof TestWebhook>>;

const responseExample: WebhookTestResponse = {
  sent: { ...eventExamples.paid, order_id: 'webhook-test', metadata: { webhook_test: true } },
  response_status: 400,
  duration_ms: 41,
  error: 'http_status',
  response_body: 'Signature does not match',
  response_truncated: false,
};

export const testWebhookRoute = {
  tag: 'Events',
  summary: 'Send a signed sample to the webhook URL',
  description:
    'Sends one event of a payment that does not exist, with the real headers and signature, and returns ' +
    'what the receiver answered. It has `test` = true, the order id `webhook-test` and a new event id. One ' +
    `attempt; at most ${limits.webhookTestsPerMinute} in a minute.`,
  headers: z.object({ traceparent: Traceparent.optional() }),
  body: { json: TestWebhook, examples: requestExamples },
  // To an unknown kind of event.
  validationExample: {
    path: 'event',
    rule: 'invalid_value',
    message: 'must be one of payment.paid, payment.failed, payment.cancelled, payment.expired',
  },
  responses: {
    200: {
      description: 'What was sent, and the answer.',
      content: WebhookTestResponse,
      examples: { refused: responseExample },
    },
  },
  errors: [],
} as const satisfies RouteSpec;

export interface Deps {
  sql: Pick<Sql, 'begin'>;
  webhookTests: Pick<WebhookTests, 'getResult'>;
  workflows: Pick<WorkflowCalls, 'testWebhook'>;
}

/** A worker sends the sample: this process cannot read webhook secrets. */
export const testWebhookHandler =
  ({ sql, webhookTests, workflows }: Deps): Handler<'application', typeof testWebhookRoute> =>
  async (request) => {
    const { caller, refuse } = request;
    const { event: kind } = parseBody(TestWebhook, await request.readJson(), refuse);
    const { application } = caller;
    const id = randomUUID();
    const traceparent = parseTraceparent(request.header('traceparent')) ?? null;
    const tooMany = await sql.begin((tx) =>
      createWebhookTests(tx).insert({ id, application, kind, traceparent }),
    );
    if (tooMany) throw rateLimited(tooMany.retryAfterSeconds);

    const unavailable = 'The sample cannot be sent now.';
    await unavailableIfTemporalIsDown(workflows.testWebhook(id, application), unavailable);
    const result = await webhookTests.getResult(id);
    if (!result) throw refuse('SERVICE_UNAVAILABLE', unavailable);
    const { sent, responseStatus, durationMs, errorClass, responseBody } = result;
    return {
      status: 200,
      body: formatObject({
        sent: sent === null ? null : { jsonText: sent },
        response_status: responseStatus,
        duration_ms: durationMs,
        error: errorClass,
        response_body: responseBody,
        response_truncated: result.responseTruncated,
      }),
    };
  };
