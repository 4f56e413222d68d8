import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ListedPasskey, Passkey } from '../../postgres/console/passkeys.ts';
import { deriveFrom } from './begun-login.ts';

/** At its first use: it takes 26 MB and a fifth of a second, and some consoles have no passkeys. */
const loadLibrary = () => import('@simplewebauthn/server');

/** EdDSA, ES256 and RS256. By default the library adds one that is experimental in Node. */
const supportedAlgorithmIDs = [-8, -7, -257];

const timeoutMs = 5 * 60_000;

const base64url = z.string().regex(/^[\w-]+$/);
const credential = {
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
};
const newCredential = z.object({
  ...credential,
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
});
const usedCredential = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
  }),
});

/** Makes the options of the browser's passkey calls, and verifies what these return. */
export const createPasskeys = (baseUrl: string) => {
  const { hostname: rpID, origin } = new URL(baseUrl);
  const challengeOf = (secret: string) => deriveFrom(secret, 'challenge');
  const challengeBytesOf = (secret: string) =>
    new Uint8Array(Buffer.from(challengeOf(secret), 'base64url'));
  const expected = (secret: string) => ({
    expectedChallenge: challengeOf(secret),
    expectedOrigin: origin,
    expectedRPID: rpID,
    // A person, and not only whoever holds the device.
    requireUserVerification: true,
  });
  return {
    async optionsToAdd(secret: string, name: string, known: readonly ListedPasskey[]) {
      const { generateRegistrationOptions } = await loadLibrary();
      return generateRegistrationOptions({
        rpName: 'Payments console',
        rpID,
        userName: name,
        userID: new Uint8Array(createHash('sha256').update(name).digest()),
        challenge: challengeBytesOf(secret),
        timeout: timeoutMs,
        attestationType: 'none',
        supportedAlgorithmIDs,
        excludeCredentials: known.map(({ id }) => ({ id })),
        // The login page does not know the person, so the device has to.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
    },

    async optionsToLogIn(secret: string) {
      const { generateAuthenticationOptions } = await loadLibrary();
      return generateAuthenticationOptions({
        rpID,
        challenge: challengeBytesOf(secret),
        timeout: timeoutMs,
        userVerification: 'required',
      });
    },

    /** @returns the new passkey; undefined if its answer is not the one to this challenge */
    async verifyNew(secret: string, answer: string): Promise<Omit<Passkey, 'name'> | undefined> {
      const response = newCredential.safeParse(parseJson(answer)).data;
      if (!response) return undefined;
      const { verifyRegistrationResponse } = await loadLibrary();
      const { registrationInfo } = await verifyRegistrationResponse({
        ...expected(secret),
        response,
        supportedAlgorithmIDs,
      }).catch(refuse);
      if (!registrationInfo) return undefined;
      const { id, publicKey, counter } = registrationInfo.credential;
      return { id: Buffer.from(id, 'base64url'), publicKey: Buffer.from(publicKey), counter };
    },

    /** @returns the passkey that made the answer, with its new counter; undefined if none of ours did */
    async verifyUse(
      secret: string,
      answer: string,
      getPasskey: (id: Buffer) => Promise<Passkey | undefined>,
    ): Promise<{ passkey: Passkey; counter: number } | undefined> {
      const response = usedCredential.safeParse(parseJson(answer)).data;
      if (!response) return undefined;
      const passkey = await getPasskey(Buffer.from(response.id, 'base64url'));
      if (!passkey) return undefined;
      const { counter, publicKey } = passkey;
      const { verifyAuthenticationResponse } = await loadLibrary();
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        ...expected(secret),
        response,
        credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter },
      }).catch(refuse);
      return verified ? { passkey, counter: authenticationInfo.newCounter } : undefined;
    },
  };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The package throws plain errors for every answer that it refuses, also for one that it cannot read. */
const refuse = (): { verified: false; registrationInfo?: never; authenticationInfo?: never } => ({
  verified: false,
});
