import type { Queries } from './driver/sql.ts';
import type { SecretBox } from './secret-box.ts';
import { randomSecret } from './secret-box.ts';

export interface WebhookSecret {
  id: number;
  createdAt: Date;
  /** Null for the newest; the older one of a rotation has a time. */
  retiresAt: Date | null;
  /** Of SECRETS_KEY: which key sealed it. */
  keyId: string;
}

/**
 * Of webhook secrets: those that sign what is sent now. For `now()` one that another admin has retired
 * since the transaction began would be in use, and could be kept in place of the one that is.
 */
export const inUse = (sql: Queries) =>
  sql`(retires_at is null or retires_at > statement_timestamp())`;

type Box = Pick<SecretBox, 'seal'>;

export const createWebhookSecrets = (sql: Queries) => {
  /** `retired`: what the same statement does with those before. */
  const insert = async (application: string, box: Box, retired = sql``): Promise<string> => {
    const secret = `whsec_${randomSecret()}`;
    await sql`
      ${retired}
      insert into webhook_secrets (application, ciphertext)
      values (${application}, ${box.seal(secret, application)})`;
    return secret;
  };
  return {
    /** Makes this the application's only secret. @returns the secret, shown now and never again. */
    issue(application: string, box: Box): Promise<string> {
      const retired = sql`
        with retired as (
          update webhook_secrets set retires_at = now()
          where application = ${application} and ${inUse(sql)}
        )`;
      return insert(application, box, retired);
    },

    /** Those in use, the newer first. */
    async list(application: string): Promise<WebhookSecret[]> {
      return sql<WebhookSecret[]>`
        select id, created_at as "createdAt", retires_at as "retiresAt",
          split_part(ciphertext, '.', 2) as "keyId"
        from webhook_secrets
        where application = ${application} and ${inUse(sql)}
        order by id desc`;
    },

    /** What an attempt is signed with now: sealed, the newer first. */
    async listSealed(application: string): Promise<string[]> {
      const rows = await sql<{ ciphertext: string }[]>`
        select ciphertext from webhook_secrets
        where application = ${application} and ${inUse(sql)}
        order by id desc`;
      return rows.map(({ ciphertext }) => ciphertext);
    },

    /**
     * Adds a secret; the one before goes on beside it for a while. To be asked of an application
     * that is locked. @returns the secret, shown now and never again
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

    /** It does not retire any more. */
    async keep(application: string, id: number): Promise<void> {
      await sql`
        update webhook_secrets set retires_at = null
        where application = ${application} and id = ${id}`;
    },

    /** Sealed by keys other than the current one, oldest first. */
    async listSealedByOthers(
      currentKeyId: string,
      limit: number,
    ): Promise<{ id: number; application: string; ciphertext: string }[]> {
      return sql<{ id: number; application: string; ciphertext: string }[]>`
        select id, application, ciphertext from webhook_secrets
        where ${inUse(sql)} and split_part(ciphertext, '.', 2) <> ${currentKeyId}
        order by id limit ${limit} for no key update`;
    },

    async reseal(id: number, ciphertext: string): Promise<void> {
      await sql`update webhook_secrets set ciphertext = ${ciphertext} where id = ${id}`;
    },
  };
};
