import { createHash } from 'node:crypto';

/**
 * The values of a begun login that nobody may guess. They derive from the secret in the browser's cookie, so
 * no table has them, and none of them leads to another one.
 */
export const deriveFrom = (
  secret: string,
  purpose: 'state' | 'nonce' | 'verifier' | 'challenge',
): string => createHash('sha256').update(`${purpose}:${secret}`).digest('base64url');

/** @returns the path of a page of ours; the overview for anything else */
export const ownPath = (path: string | null): string =>
  path !== null && /^\/(?![/\\])[\w./~%+-]{0,500}$/.test(path) ? path : '/';
