import { cancellationSignal } from '@temporalio/activity';
import type { ErrorClass } from '../contract/attempt.ts';
import type { SecretBox } from '../postgres/secrets/secret-box.ts';
import type { WebhookTests } from '../postgres/webhooks/webhook-tests.ts';
import type { WebhookTestInput } from '../temporal/messages.ts';
import type { TargetRule } from '../webhooks/address.ts';
import { webhookUrlProblem } from '../webhooks/address.ts';
import type { WebhookDispatcher } from '../webhooks/connector.ts';
import { sendSample } from '../webhooks/sample.ts';

export interface Deps {
  webhookTests: Pick<WebhookTests, 'get' | 'complete'>;
  secretBox: Pick<SecretBox, 'open'>;
  dispatcher: Pick<WebhookDispatcher, 'dispatch'>;
  targetRule: TargetRule;
  now: () => Date;
}

const nothingSent = (errorClass: ErrorClass) => ({
  sent: null,
  durationMs: null,
  responseStatus: null,
  errorClass,
  responseBody: null,
  responseTruncated: false,
});

export const createWebhookTestActivities = (deps: Deps) => ({
  /** Sends the sample that an application asked for, and records the answer. */
  async sendTestWebhook({ testId }: WebhookTestInput): Promise<void> {
    const { webhookTests, secretBox, dispatcher, targetRule, now } = deps;
    const test = await webhookTests.get(testId);
    if (!test) return;
    const { webhookUrl: url, application, kind, defaultGateway: gateway } = test;
    if (url === null) return webhookTests.complete(testId, nothingSent('no_url'));
    if (webhookUrlProblem(url, targetRule))
      return webhookTests.complete(testId, nothingSent('blocked'));
    const { sent, result } = await sendSample({
      url,
      application,
      gateway,
      kind,
      traceparent: test.traceparent,
      secrets: test.secrets.map((sealed) => secretBox.open(sealed, application)),
      dispatcher,
      signal: cancellationSignal(),
      now: now(),
    });
    // As of a delivery: the answer of a receiver that accepted the event is nobody's business.
    const isAccepted = result.errorClass === null;
    await webhookTests.complete(testId, {
      ...result,
      sent,
      responseBody: isAccepted ? null : result.responseBody,
      responseTruncated: !isAccepted && result.responseTruncated,
    });
  },
});
