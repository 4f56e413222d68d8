import { randomBytes } from 'node:crypto';
import { hasCardNumber, hasSecret } from '../operations/change.ts';

const keptMs = 30 * 60_000;
const draftsMax = 500;
const idPattern = /^[\w-]{43}$/;

/** Names that belong to one sending, and fields whose text may be a secret. */
const neverKept = new Set(['csrf', 'form_id', 'back', 'confirm', 'response', 'url', 'credentials']);

interface Draft {
  name: string;
  path: string;
  fields: URLSearchParams;
  /** By the clock of this process, which nobody sets back. */
  keptAt: number;
}

/**
 * Forms that were sent when a login had ended or was too old. They had no effect. After the login the person
 * finds the fields filled again, and presses the button or does not. They are in the memory of this process alone, and
 * only for people who had logged in, so nobody else can fill it.
 */
export const createDrafts = () => {
  const drafts = new Map<string, Draft>();
  const find = (id: string | null): Draft | undefined => {
    const draft = id === null ? undefined : drafts.get(id);
    return draft && performance.now() - draft.keptAt < keptMs ? draft : undefined;
  };
  return {
    /** @returns the address that leads back to the form */
    keep(name: string, address: string, form: URLSearchParams): string {
      const id = randomBytes(32).toString('base64url');
      const fields = new URLSearchParams(
        [...form].filter(
          ([field, value]) => !neverKept.has(field) && !hasSecret(value) && !hasCardNumber(value),
        ),
      );
      const [path = '', text = ''] = address.split('?');
      drafts.set(id, { name, path, fields, keptAt: performance.now() });
      const [oldest] = drafts.keys();
      if (drafts.size > draftsMax && oldest !== undefined) drafts.delete(oldest);
      const query = new URLSearchParams(text);
      query.set('draft', id);
      return `${path}?${String(query)}`;
    },

    /** The fields of a form of this person at this path. */
    read(id: string | null, name: string, path: string): URLSearchParams | undefined {
      const draft = find(id);
      return draft?.name === name && draft.path === path ? draft.fields : undefined;
    },

    /** Whether the address leads back to a form whose fields are kept. */
    isIn: (address: string): boolean => {
      const [, id = ''] = /[?&]draft=([^&]*)/.exec(address) ?? [];
      return idPattern.test(id) && find(id) !== undefined;
    },
  };
};
export type Drafts = ReturnType<typeof createDrafts>;
