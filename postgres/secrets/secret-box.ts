import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface KeyRing {
  /** The key that encrypts. All keys decrypt. */
  currentId: string;
  /** 32 bytes each. */
  keys: ReadonlyMap<string, Buffer>;
}

/**
 * The settings that hold keys: for the credentials of gateways, for what checks their notifications, for webhook
 * secrets, and for the data of payers. Each process has only those that it needs.
 */
export type KeySetting = 'SECRETS_KEY' | 'NOTIFICATIONS_KEY' | 'WEBHOOKS_KEY' | 'PAYERS_KEY';

/** The settings whose secrets stay, so that a new key seals them anew. What PAYERS_KEY seals lives for a day at most. */
export type ResealedSetting = Exclude<KeySetting, 'PAYERS_KEY'>;

/** The ring of a process that opens nothing of the kind. */
export const noKeys: KeyRing = { currentId: '', keys: new Map() };

/**
 * Seals secrets for storage: AES-256-GCM, written `v1.<key id>.<base64url of iv, tag, ciphertext>`. The owner
 * is associated data, so a row that is copied to another owner does not open.
 * @param variable the setting that holds the keys, for error messages
 */
export const createSecretBox = (
  { currentId, keys }: KeyRing,
  variable: KeySetting = 'SECRETS_KEY',
) => {
  const findKey = (id: string): Buffer => {
    const key = keys.get(id);
    if (!key) throw new Error(`${variable} holds no key named ${id}`);
    return key;
  };
  return {
    /** The id of the key that seals. */
    currentKeyId: currentId,
    /** The ids of all keys. */
    keyIds: [...keys.keys()],
    seal(secret: string, owner: string): string {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', findKey(currentId), iv);
      cipher.setAAD(Buffer.from(owner));
      const sealed = [cipher.update(secret, 'utf8'), cipher.final()];
      const bytes = Buffer.concat([iv, cipher.getAuthTag(), ...sealed]);
      return `v1.${currentId}.${bytes.toString('base64url')}`;
    },
    /**
     * @throws Error if the secret was sealed for another owner or altered, or if the key is missing; its
     *   message does not contain the secret
     */
    open(sealed: string, owner: string): string {
      const [version, keyId = '', encoded = ''] = sealed.split('.');
      if (version !== 'v1') throw new Error('A sealed secret has an unknown version');
      const bytes = Buffer.from(encoded, 'base64url');
      // Without this length a tag that is cut to 4 bytes would be accepted.
      const decipher = createDecipheriv('aes-256-gcm', findKey(keyId), bytes.subarray(0, 12), {
        authTagLength: 16,
      });
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(bytes.subarray(12, 28));
      const opened = [decipher.update(bytes.subarray(28)), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    },
  };
};
export type SecretBox = ReturnType<typeof createSecretBox>;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 base62 characters: 256 bits. */
export const randomSecret = (): string => {
  let text = '';
  while (text.length < 43)
    for (const byte of randomBytes(64))
      // 248 is 4 × 62: with bytes from 248 on, the first characters would be likelier.
      if (byte < 248 && text.length < 43) text += alphabet[byte % 62];
  return text;
};
