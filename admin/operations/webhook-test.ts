import { randomUUID } from 'node:crypto';
import {
  createWebhookTests,
  type WebhookTestResult,
} from '../../postgres/webhooks/webhook-tests.ts';
import { findApplication } from './applications.ts';
import { Refusal } from './change.ts';
import type { Deps } from './deps.ts';
import { needTemporal } from './need-temporal.ts';

export interface WebhookTest extends WebhookTestResult {
  url: string;
}

/** A worker sends the sample, as for the API: only workers read webhook secrets and send webhooks. */
export const createWebhookTest =
  ({ sql, change, temporal }: Pick<Deps, 'sql' | 'change' | 'temporal'>) =>
  /** Sends one signed sample event of a paid payment that does not exist. */
  async (slug: string, reason: string | null): Promise<WebhookTest> => {
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
    await needTemporal(
      async () => (await temporal()).testWebhook(id, slug),
      'Temporal is unavailable, or no worker is free. Try again later.',
    );
    const result = await createWebhookTests(sql).getResult(id);
    if (!result) throw new Refusal('No worker has sent the sample within a minute. Try again.');
    const subject = `application:${slug}`;
    await change({ action: 'webhook.test', subject, reason }, async () => ({
      before: null,
      after: { status: result.responseStatus, error_class: result.errorClass },
    }));
    return { ...result, url };
  };
