import {
  credentialsOwner,
  notificationSecretsOwner,
  refundCredentialsOwner,
} from '../../contract/ids.ts';
import type { Queries } from '../../postgres/driver/sql.ts';
import { createGateways, type SealedPart } from '../../postgres/gateways/gateways.ts';
import type { ResealedSetting, SecretBox } from '../../postgres/secrets/secret-box.ts';
import { listSealingKeys, type SealingKey } from '../../postgres/secrets/sealing-keys.ts';
import {
  createWebhookSecrets,
  type WebhookSecret,
} from '../../postgres/secrets/webhook-secrets.ts';
import { findApplication, lockApplication } from './applications.ts';
import { type Changed, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

export interface ListedKey extends SealingKey {
  /** `missing`: no setting holds it, so nobody can open what it has sealed. */
  use: 'encrypts' | 'decrypts' | 'missing';
}

const useOf = ({ currentKeyId, keyIds }: SecretBox, keyId: string): ListedKey['use'] => {
  if (keyId === currentKeyId) return 'encrypts';
  return keyIds.includes(keyId) ? 'decrypts' : 'missing';
};

const overlap = '24 hours';
const maxSecrets = 2;
const resealBatch = 100;

export const createSecretOperations = ({
  sql,
  change,
  secretBox,
  webhookBox,
  notificationBox,
}: Pick<Deps, 'sql' | 'change' | 'secretBox' | 'webhookBox' | 'notificationBox'>) => {
  const keyBoxes: Record<ResealedSetting, () => SecretBox> = {
    SECRETS_KEY: secretBox,
    WEBHOOKS_KEY: webhookBox,
    NOTIFICATIONS_KEY: notificationBox,
  };
  return {
    async list(application: string): Promise<WebhookSecret[]> {
      await findApplication(sql, application);
      return createWebhookSecrets(sql).list(application);
    },

    /**
     * Adds a secret. The old one stays valid for 24 hours, in which every webhook is signed with both.
     * @returns the secret, which cannot be read again
     * @throws Refusal during an earlier rotation
     */
    async rotate(application: string, reason: string | null): Promise<string> {
      const box = webhookBox();
      const subject = `application:${application}`;
      return change({ action: 'secret.rotate', subject, reason }, async (tx) => {
        await lockApplication(tx, application);
        const secrets = createWebhookSecrets(tx);
        const valid = await secrets.list(application);
        if (valid.length >= maxSecrets)
          throw new Refusal(
            `The application "${application}" already has two secrets. Wait until ${
              valid.at(-1)?.retiresAt?.toISOString() ?? 'one retires'
            }, or retire one of them.`,
          );
        const secret = await secrets.rotate(application, { box, overlap });
        const [newest] = await secrets.list(application);
        return {
          result: secret,
          before: { ids: valid.map(({ id }) => String(id)) },
          after: { ids: [newest, ...valid].map((one) => String(one?.id)), overlap },
        };
      });
    },

    /** Takes effect at once: the next attempt is not signed with it. */
    async retire(
      { application, id }: { application: string; id: number },
      reason: string | null,
    ): Promise<void> {
      const subject = `application:${application}`;
      await change({ action: 'secret.retire', subject, reason }, async (tx) => {
        await lockApplication(tx, application);
        const secrets = createWebhookSecrets(tx);
        const valid = await secrets.list(application);
        if (!valid.some((secret) => secret.id === id))
          throw new Refusal(`The application "${application}" has no secret ${id}.`);
        if (valid.length === 1)
          throw new Refusal('This is the only secret, and webhooks must be signed. Rotate first.');
        await secrets.retire(application, id);
        // The other one may be due to retire. It stays, as the only one.
        const [kept] = valid.filter((secret) => secret.id !== id);
        if (kept) await secrets.cancelRetirement(application, kept.id);
        return {
          before: { ids: valid.map((secret) => String(secret.id)) },
          after: { ids: [String(kept?.id)] },
        };
      });
    },

    /** The keys of the settings that have encrypted something, and those that are in no setting any more. */
    async listKeys(): Promise<ListedKey[]> {
      const sealing = await listSealingKeys(sql);
      const list = (setting: ResealedSetting): ListedKey[] => {
        const box = keyBoxes[setting]();
        const counts = new Map(box.keyIds.map((id) => [id, 0]));
        for (const key of sealing) if (key.setting === setting) counts.set(key.keyId, key.seals);
        return [...counts].map(([keyId, seals]) => ({
          setting,
          keyId,
          use: useOf(box, keyId),
          seals,
        }));
      };
      return settingsIn(sealing).flatMap(list);
    },

    /** Encrypts every secret with the first key of its setting. @returns the number of those with another key */
    async reseal(reason: string | null): Promise<number> {
      let total = 0;
      for (const setting of settingsIn(await listSealingKeys(sql))) {
        const box = keyBoxes[setting]();
        const subject = `key:${box.currentKeyId}`;
        total += await resealAll(
          (work) => change({ action: 'secret.reseal', subject, reason }, work),
          (tx) => resealOf[setting](tx, box),
        );
      }
      return total;
    },
  };
};

/** A setting may be missing where nothing is encrypted with it. */
const settingsIn = (sealing: readonly SealingKey[]): ResealedSetting[] => [
  ...new Set(sealing.map(({ setting }) => setting)),
];

/** Reseals batch by batch, each with its record in the audit log. @returns the number of secrets */
const resealAll = async (
  change: (work: (tx: Queries) => Promise<Changed & { result: number }>) => Promise<number>,
  resealSome: (tx: Queries) => Promise<number>,
): Promise<number> => {
  for (let total = 0; ;) {
    const resealed = await change(async (tx) => {
      const result = await resealSome(tx);
      return { result, before: null, after: { resealed: result } };
    });
    total += resealed;
    if (resealed < resealBatch) return total;
  }
};

/** Each returns the number of secrets; less than a batch once none is left. */
const resealOf: Record<ResealedSetting, (tx: Queries, box: SecretBox) => Promise<number>> = {
  SECRETS_KEY: async (tx, box) =>
    (await resealAccounts(tx, box, 'credentials', credentialsOwner)) +
    (await resealAccounts(tx, box, 'refund_credentials', refundCredentialsOwner)),
  NOTIFICATIONS_KEY: (tx, box) =>
    resealAccounts(tx, box, 'notification_secrets', notificationSecretsOwner),
  async WEBHOOKS_KEY(tx, box) {
    const secrets = createWebhookSecrets(tx);
    const batch = await secrets.listSealedByOthers(box.currentKeyId, resealBatch);
    for (const { id, application, ciphertext } of batch)
      await secrets.reseal(id, box.seal(box.open(ciphertext, application), application));
    return batch.length;
  },
};

const resealAccounts = async (
  tx: Queries,
  box: SecretBox,
  part: SealedPart,
  ownerOf: (slug: string) => string,
): Promise<number> => {
  const gateways = createGateways(tx);
  const accounts = await gateways.listSealedByOthers(part, box.currentKeyId, resealBatch);
  for (const { slug, sealed } of accounts) {
    const owner = ownerOf(slug);
    await gateways.reseal(part, slug, box.seal(box.open(sealed, owner), owner));
  }
  return accounts.length;
};
