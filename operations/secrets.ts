import { credentialsOwner, notificationSecretsOwner } from '../contract/ids.ts';
import type { Queries } from '../postgres/driver/sql.ts';
import type { SealedPart } from '../postgres/gateways.ts';
import { createGateways } from '../postgres/gateways.ts';
import type { SecretBox } from '../postgres/secret-box.ts';
import { listSealingKeys, type SealingKey } from '../postgres/sealing-keys.ts';
import { createWebhookSecrets, type WebhookSecret } from '../postgres/webhook-secrets.ts';
import { findApplication, lockApplication } from './applications.ts';
import type { Changed } from './change.ts';
import { Refusal } from './change.ts';
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
  notificationBox,
}: Pick<Deps, 'sql' | 'change' | 'secretBox' | 'notificationBox'>) => ({
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
    const box = secretBox();
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

  listKeys: () => listKeys({ sql, secretBox, notificationBox }),

  /**
   * Encrypts all secrets with the first key of SECRETS_KEY, and notification secrets with that of
   * NOTIFICATIONS_KEY. @returns the number of those with another key
   */
  async reseal(reason: string | null): Promise<number> {
    const box = secretBox();
    const withBox = (keyId: string, resealSome: (tx: Queries) => Promise<number>) =>
      resealAll(
        (work) => change({ action: 'secret.reseal', subject: `key:${keyId}`, reason }, work),
        resealSome,
      );
    const resealed = await withBox(box.currentKeyId, (tx) => resealSecrets(tx, box));
    if (!(await createGateways(sql).hasNotificationSecrets())) return resealed;
    const notifications = notificationBox();
    return (
      resealed +
      (await withBox(notifications.currentKeyId, (tx) =>
        resealAccounts(tx, notifications, notificationSecrets),
      ))
    );
  },
});

/** The keys of the settings, and those that are in no setting and have sealed something. */
const listKeys = async ({
  sql,
  secretBox,
  notificationBox,
}: Pick<Deps, 'sql' | 'secretBox' | 'notificationBox'>): Promise<ListedKey[]> => {
  const sealing = await listSealingKeys(sql);
  const list = (setting: SealingKey['setting'], box: SecretBox): ListedKey[] => {
    const counts = new Map(box.keyIds.map((id) => [id, 0]));
    for (const { keyId, seals } of sealing.filter((key) => key.setting === setting))
      counts.set(keyId, seals);
    return [...counts].map(([keyId, seals]) => ({
      setting,
      keyId,
      use: useOf(box, keyId),
      seals,
    }));
  };
  const keys = list('SECRETS_KEY', secretBox());
  // As for a reseal, NOTIFICATIONS_KEY may be missing where nothing is encrypted with it.
  if (!sealing.some(({ setting }) => setting === 'NOTIFICATIONS_KEY')) return keys;
  return [...keys, ...list('NOTIFICATIONS_KEY', notificationBox())];
};

/** Reseals batch by batch, each with its record in the audit log. @returns the number of secrets */
const resealAll = async (
  change: (work: (tx: Queries) => Promise<Changed<number>>) => Promise<number>,
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

/** @returns the number of secrets; less than a batch once none is left */
const resealSecrets = async (tx: Queries, box: SecretBox): Promise<number> => {
  const secrets = createWebhookSecrets(tx);
  const batch = await secrets.listSealedByOthers(box.currentKeyId, resealBatch);
  for (const { id, application, ciphertext } of batch)
    await secrets.reseal(id, box.seal(box.open(ciphertext, application), application));
  const limit = resealBatch - batch.length;
  return batch.length + (await resealAccounts(tx, box, { ...credentials, limit }));
};

const credentials = { part: 'credentials', ownerOf: credentialsOwner } as const;
const notificationSecrets = {
  part: 'notification_secrets',
  ownerOf: notificationSecretsOwner,
  limit: resealBatch,
} as const;

interface AccountPart {
  part: SealedPart;
  ownerOf: (slug: string) => string;
  limit: number;
}

/** @returns the number of accounts; less than the limit once none is left */
const resealAccounts = async (
  tx: Queries,
  box: SecretBox,
  { part, ownerOf, limit }: AccountPart,
): Promise<number> => {
  const gateways = createGateways(tx);
  const accounts = await gateways.listSealedByOthers(part, box.currentKeyId, limit);
  for (const { slug, sealed } of accounts) {
    const owner = ownerOf(slug);
    await gateways.reseal(part, slug, box.seal(box.open(sealed, owner), owner));
  }
  return accounts.length;
};
