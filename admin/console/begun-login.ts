import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * The values of a begun login that nobody may guess. They derive from the secret in the browser's cookie, so
 * no table has them, and none of them leads to another one.
 */
export const deriveFrom = (
  secret: string,
  purpose: 'state' | 'nonce' | 'verifier' | 'challenge',
): string => createHash('sha256').update(`${purpose}:${secret}`).digest('base64url');

const loginMs = 10 * 60_000;

interface Begun {
  back: string;
  at: number;
  /** By the clock of this process, which nobody sets back. */
  beganMs: number;
}

const isOld = ({ at, beganMs }: Begun): boolean =>
  Math.max(Date.now() - at, performance.now() - beganMs) > loginMs;

/**
 * Logins that a browser has begun. The browser keeps them, sealed by a key of this process, so nobody can fill a
 * table with logins that nobody ends.
 * @param spend records the end of a login; false if it has ended before
 */
export const createBegunLogins = (spend: (begunLogin: string) => Promise<boolean>) => {
  const key = randomBytes(32);
  const sealOf = (text: string) => createHmac('sha256', key).update(text).digest();
  const read = (begunLogin: string) => {
    const [text = '', seal = ''] = begunLogin.split('.');
    const given = Buffer.from(seal, 'base64url');
    if (given.length !== 32 || !timingSafeEqual(given, sealOf(text))) return undefined;
    // This process has made the text.
    return JSON.parse(String(Buffer.from(text, 'base64url'))) as Begun;
  };
  return {
    /** @returns the secret of a login that begins. It leads to this path */
    begin(back: string): string {
      const facts = {
        back,
        at: Date.now(),
        beganMs: performance.now(),
        nonce: randomBytes(32).toString('base64url'),
      };
      const text = Buffer.from(JSON.stringify(facts)).toString('base64url');
      return `${text}.${sealOf(text).toString('base64url')}`;
    },

    /** @returns where the login leads to; undefined if it has ended or began ten minutes ago */
    async end(begunLogin: string): Promise<{ back: string } | undefined> {
      const login = read(begunLogin);
      if (!login || isOld(login)) return undefined;
      return (await spend(begunLogin)) ? login : undefined;
    },
  };
};
export type BegunLogins = ReturnType<typeof createBegunLogins>;

/** @returns the path of a page of ours, with its query; the overview for anything else */
export const ownPath = (path: string | null): string =>
  path !== null && /^\/(?![/\\])[\w./~%+-]{0,500}(?:\?[\w./~%+=&:-]{0,1000})?$/.test(path)
    ? path
    : '/';
