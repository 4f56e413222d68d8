import { credentialsOwner } from '../contract/ids.ts';
import { createApplications } from '../postgres/applications.ts';
import { connect } from '../postgres/driver/connection.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import type { KeyRing } from '../postgres/secret-box.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { createTokens } from '../postgres/tokens.ts';
import { createWebhookSecrets } from '../postgres/webhook-secrets.ts';

export interface ApplicationOptions {
  slug: string;
  webhookUrl: string;
  /** A Stripe account of the same name is made with these; without them the sandbox is used. */
  credentials?: string;
}

/** What the benchmark has of its own, so that the shop is left out. */
export const createSetup = (
  { databaseUrl, keyRing }: { databaseUrl: string; keyRing: KeyRing },
  cleanup: AsyncDisposableStack,
) => {
  const sql: Sql = connect(databaseUrl, { name: 'bench', max: 1 });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  const box = createSecretBox(keyRing);
  return {
    sql,

    /** What a stack of its own makes at its first start. */
    sandbox: () => createGateways(sql).insert(sandboxAccount),

    /** @returns its token */
    async application({ slug, webhookUrl, credentials }: ApplicationOptions): Promise<string> {
      if (credentials !== undefined)
        await createGateways(sql).insert({
          ...{ slug, driver: 'stripe', kind: 'sandbox' },
          credentials: box.seal(credentials, credentialsOwner(slug)),
        });
      await createApplications(sql).insert({
        slug,
        defaultGateway: credentials === undefined ? 'sandbox' : slug,
        callbackUrls: ['http://127.0.0.1/back'],
        webhookUrl,
        // No figure is about the budget's end.
        requestsPerMinute: 1_000_000_000,
      });
      await createWebhookSecrets(sql).issue(slug, box);
      return createTokens(sql).issue({ application: slug, mode: 'test', name: 'bench' });
    },
  };
};
