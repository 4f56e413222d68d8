import { parseKeyRing } from '../config.ts';
import { createApplications } from '../postgres/applications.ts';
import { connect } from '../postgres/connection.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { createTokens } from '../postgres/tokens.ts';
import { createWebhookSecrets } from '../postgres/webhook-secrets.ts';

export interface ApplicationOptions {
  databaseUrl: string;
  /** In the form of SECRETS_KEY. */
  secretsKey: string;
  webhookUrl: string;
}

const slug = 'bench';

/** An application of the benchmark's own, so that the shop is left out. @returns its token */
export const createApplication = async (options: ApplicationOptions): Promise<string> => {
  const sql = connect(options.databaseUrl, { name: 'bench', max: 1 });
  try {
    await createApplications(sql).insert({
      slug,
      defaultGateway: 'sandbox',
      callbackUrls: ['http://127.0.0.1/back'],
      webhookUrl: options.webhookUrl,
      // No figure is about the budget's end.
      requestsPerMinute: 1_000_000_000,
    });
    const box = createSecretBox(parseKeyRing(options.secretsKey));
    await createWebhookSecrets(sql, box).issue(slug);
    return await createTokens(sql).issue({ application: slug, mode: 'test', name: 'bench' });
  } finally {
    await sql.end();
  }
};
