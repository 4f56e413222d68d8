import type { Queries } from '../driver/sql.ts';
import type { SecretBox } from './secret-box.ts';
import { randomSecret } from './secret-box.ts';

export interface WebhookSecret {
  id: number;
  createdAt: Date;
  /** Null for the newest secret. A rotation sets it for the older one. */
  retiresAt: Date | null;
  /** The key of WEBHOOKS_KEY that sealed it. */
  keyId: string;
}

/**
 * The condition for webhook secrets that sign deliveries now. It does not use `now()`, the start of the
 * transaction: a secret that another admin retired since then would count as active.
 */
export const isActive = (sql: Queries) =>
  sql`(retires_at is null or retires_at > statement_timestamp())`;

type Box = Pick<SecretBox, 'seal'>;

export const createWebhookSecrets = (sql: Queries) => {
  /** `retirePrevious` is a common table expression for the same statement. */
  const insert = async (application: string, box: Box, retirePrevious = sql``): Promise<string> => {
    const secret = `whsec_${randomSecret()}`;
    await sql`
      ${retirePrevious}
      insert into webhook_secrets (application, ciphertext)
      values (${application}, ${box.seal(secret, application)})`;
    return secret;
  };
  return {
    /** Replaces all secrets of the application. @returns the secret, which cannot be shown again */
    issue(application: string, box: Box): Promise<string> {
      const retirePrevious = sql`
        with retired as (
          update webhook_secrets set retires_at = now()
          where application = ${application} and ${isActive(sql)}
        )`;
      return insert(application, box, retirePrevious);
    },

    /** The active secrets, newest first. */
    async list(application: string): Promise<WebhookSecret[]> {
      return sql<WebhookSecret[]>`
        select id, created_at as "createdAt", retires_at as "retiresAt",
          key_id as "keyId"
        from webhook_secrets
        where application = ${application} and ${isActive(sql)}
        order by id desc`;
    },

    /** The active secrets, sealed, newest first: they sign an attempt. */
    async listSealed(application: string): Promise<string[]> {
      const rows = await sql<{ ciphertext: string }[]>`
        select ciphertext from webhook_secrets
        where application = ${application} and ${isActive(sql)}
        order by id desc`;
      return rows.map(({ ciphertext }) => ciphertext);
    },

    /**
     * Adds a secret. The previous one stays active for the time `overlap`. The caller must have locked the
     * application.
     * @returns the secret, which cannot be shown again
     */
    async rotate(
      application: string,
      { box, overlap }: { box: Box; overlap: string },
    ): Promise<string> {
      await sql`
        update webhook_secrets set retires_at = now() + ${overlap}::interval
        where application = ${application} and retires_at is null`;
      return insert(application, box);
    },

    async retire(application: string, id: number): Promise<void> {
      await sql`
        update webhook_secrets set retires_at = now()
        where application = ${application} and id = ${id}`;
    },

    /** Makes the secret active without an end. */
    async cancelRetirement(application: string, id: number): Promise<void> {
      await sql`
        update webhook_secrets set retires_at = null
        where application = ${application} and id = ${id}`;
    },

    /** Locks and lists the active secrets that are sealed by another key, oldest first. */
    async listSealedByOthers(
      currentKeyId: string,
      limit: number,
    ): Promise<{ id: number; application: string; ciphertext: string }[]> {
      return sql<{ id: number; application: string; ciphertext: string }[]>`
        select id, application, ciphertext from webhook_secrets
        where ${isActive(sql)} and key_id <> ${currentKeyId}
        order by id limit ${limit} for no key update`;
    },

    async reseal(id: number, ciphertext: string): Promise<void> {
      await sql`update webhook_secrets set ciphertext = ${ciphertext} where id = ${id}`;
    },
  };
};
