import { createHash } from 'node:crypto';

/**
 * The form of a webhook URL for output and the audit log. Its query may be a key, so eight digits of a hash
 * replace it: a change still shows.
 */
export const hideQuery = (url: string): string =>
  // A fragment may be a secret too.
  url.replace(/[?#].*$/s, (hidden) => {
    const hash = createHash('sha256').update(hidden).digest('hex');
    return `?…${hash.slice(0, 8)}`;
  });
