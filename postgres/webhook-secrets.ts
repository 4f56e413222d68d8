import type { Sql } from './connection.ts';
import type { SecretBox } from './secret-box.ts';
import { randomSecret } from './secret-box.ts';

export const createWebhookSecrets = (sql: Sql, box: SecretBox) => ({
  /** Makes this the application's only secret. @returns the secret, shown now and never again. */
  async issue(application: string): Promise<string> {
    const secret = `whsec_${randomSecret()}`;
    await sql`
      with retired as (
        update webhook_secrets set retires_at = now()
        where application = ${application} and (retires_at is null or retires_at > now())
      )
      insert into webhook_secrets (application, ciphertext)
      values (${application}, ${box.seal(secret, application)})`;
    return secret;
  },
});
export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;
