import { createHash } from 'node:crypto';

/**
 * A webhook URL as it is shown, and kept in the audit log: its query may be a key, so that eight
 * digits of its hash stand for it, by which a change is seen.
 */
export const hideQuery = (url: string): string =>
  // What stands behind a fragment is no query, and no less of a secret.
  url.replace(/[?#].*$/s, (hidden) => {
    const hash = createHash('sha256').update(hidden).digest('hex');
    return `?…${hash.slice(0, 8)}`;
  });
