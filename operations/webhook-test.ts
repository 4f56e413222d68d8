import { randomUUID } from 'node:crypto';
import type { Sql } from '../postgres/driver/sql.ts';
import type { SecretBox } from '../postgres/secret-box.ts';
import { createWebhookSecrets } from '../postgres/webhook-secrets.ts';
import { createWebhookTests, type WebhookTestResult } from '../postgres/webhook-tests.ts';
import type { TemporalAdmin } from '../temporal/admin-client.ts';
import { TemporalUnavailable } from '../temporal/payment-workflows.ts';
import type { TargetRule } from '../webhooks/address.ts';
import { webhookUrlProblem } from '../webhooks/address.ts';
import type { WebhookDispatcher } from '../webhooks/connector.ts';
import type { WebhookResult } from '../webhooks/request.ts';
import { sendSample } from '../webhooks/sample.ts';
import { findApplication } from './applications.ts';
import type { MakeChange } from './change.ts';
import { Refusal } from './change.ts';

export interface Deps {
  sql: Sql;
  change: MakeChange;
  targetRule: TargetRule;
  /** @throws without SECRETS_KEY */
  secretBox: () => SecretBox;
  dispatcher: () => WebhookDispatcher;
  now: () => Date;
}

export interface WebhookTest {
  url: string;
  body: string;
  result: WebhookResult;
}

export const createWebhookTest =
  ({ sql, change, targetRule, secretBox, dispatcher, now }: Deps) =>
  /** Sends one signed sample event of a paid payment that does not exist. */
  async (slug: string, reason: string | null): Promise<WebhookTest> => {
    const { webhookUrl: url, defaultGateway } = await findApplication(sql, slug);
    if (url === null) throw new Refusal(`The application "${slug}" has no webhook URL.`);
    const problem = webhookUrlProblem(url, targetRule);
    if (problem) throw new Refusal(`The webhook URL ${problem}.`);
    const box = secretBox();
    const sealed = await createWebhookSecrets(sql).listSealed(slug);
    const { sent, result } = await sendSample({
      url,
      application: slug,
      gateway: defaultGateway,
      kind: 'payment.paid',
      secrets: sealed.map((text) => box.open(text, slug)),
      dispatcher: dispatcher(),
      signal: new AbortController().signal,
      now: now(),
    });
    const subject = `application:${slug}`;
    await change({ action: 'webhook.test', subject, reason }, async () => ({
      result: undefined,
      before: null,
      after: { status: result.responseStatus, error_class: result.errorClass },
    }));
    return { url, body: sent, result };
  };

export interface RemoteDeps {
  sql: Sql;
  change: MakeChange;
  /** @throws if Temporal cannot be reached */
  temporal: () => Promise<Pick<TemporalAdmin, 'testWebhook'>>;
}

/** Has a worker send the sample: for a process that cannot read webhook secrets. */
export const createRemoteWebhookTest =
  ({ sql, change, temporal }: RemoteDeps) =>
  async (slug: string, reason: string | null): Promise<WebhookTestResult & { url: string }> => {
    const { webhookUrl: url } = await findApplication(sql, slug);
    if (url === null) throw new Refusal(`The application "${slug}" has no webhook URL.`);
    const id = randomUUID();
    const tooMany = await sql.begin((tx) =>
      createWebhookTests(tx).insert({ id, application: slug, kind: 'payment.paid' }),
    );
    if (tooMany)
      throw new Refusal(
        `Too many samples in a minute. Try again in ${tooMany.retryAfterSeconds} seconds.`,
      );
    try {
      await (await temporal()).testWebhook(id, slug);
    } catch (error) {
      if (!(error instanceof TemporalUnavailable)) throw error;
      throw new Refusal('Temporal is unavailable, or no worker is free. Try again later.', {
        cause: error,
      });
    }
    const result = await createWebhookTests(sql).getResult(id);
    if (!result) throw new Refusal('The worker recorded no answer. Try again.');
    const subject = `application:${slug}`;
    await change({ action: 'webhook.test', subject, reason }, async () => ({
      result: undefined,
      before: null,
      after: { status: result.responseStatus, error_class: result.errorClass },
    }));
    return { ...result, url };
  };
