import { createEvent } from '../contract/event.ts';
import { newPaymentId } from '../contract/ids.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import type { SecretBox } from '../postgres/secret-box.ts';
import { createWebhookSecrets } from '../postgres/webhook-secrets.ts';
import type { TargetRule } from '../webhooks/address.ts';
import { webhookUrlProblem } from '../webhooks/address.ts';
import type { WebhookDispatcher } from '../webhooks/connector.ts';
import type { WebhookResult } from '../webhooks/request.ts';
import { post } from '../webhooks/request.ts';
import { createHeaders } from '../webhooks/signature.ts';
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
    const event = createSample(slug, defaultGateway, now());
    const body = Buffer.from(event.body);
    const headers = createHeaders({
      event: { ...event, body },
      attempt: 1,
      secrets: sealed.map((text) => box.open(text, slug)),
      now: now(),
    });
    const signal = new AbortController().signal;
    const result = await post({ url, headers, body, dispatcher: dispatcher(), signal });
    const subject = `application:${slug}`;
    await change({ action: 'webhook.test', subject, reason }, async () => ({
      result: undefined,
      before: null,
      after: { status: result.responseStatus, error_class: result.errorClass },
    }));
    return { url, body: event.body, result };
  };

/** `test`, the order id and the metadata mark it as a sample. Its ids are new. */
const createSample = (application: string, gateway: string, now: Date) =>
  createEvent(
    {
      id: newPaymentId(),
      application,
      orderId: 'webhook-test',
      status: 'paid',
      amount: 1250,
      currency: 'EUR',
      gateway,
      description: null,
      callbackUrl: '',
      metadata: '{"webhook_test":true}',
      test: true,
      trackingCode: 'webhook-test',
      cardPanMasked: '424242******4242',
      paidAt: now,
      failureCode: null,
      expiresAt: now,
      createdAt: now,
      updatedAt: now,
    },
    now,
  );
