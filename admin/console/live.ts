import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { Html } from './html.ts';
import type { ConsoleResponse, Owner, PersonRequest, Route } from './request.ts';

export interface Live {
  /** Says what the browser shows. */
  mark: string;
  content: Html;
}

/**
 * A part of a page that the browser polls as long as something can happen.
 * @param options.address the address to poll; null if nothing can happen any more
 */
export const live = async (
  part: Html,
  { address, seconds }: { address: string | null; seconds: number },
): Promise<Live> => {
  const text = String(await part);
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  // It was escaped when it was made.
  const content = raw(text);
  if (address === null) return { mark, content: html`<div>${content}</div>` };
  return {
    mark,
    content: html`<div hx-get="${address}${address.includes('?') ? '&' : '?'}seen=${mark}" hx-trigger="every ${seconds}s" hx-swap="outerMorph">
      ${content}
    </div>`,
  };
};

/** A browser that polls a part gets the part, or nothing if it shows it already. */
export const partOf = (
  { query }: Pick<PersonRequest, 'query'>,
  { mark, content }: Live,
): ConsoleResponse => ({
  kind: 'part',
  content: mark === query.get('seen') ? undefined : content,
});

/** The route that a live part polls. */
export const pollRoute = (
  path: string,
  current: (request: PersonRequest) => Promise<Live>,
  owner?: Owner,
): Route => ({
  method: 'GET',
  path,
  role: 'viewer',
  isPolled: true,
  owner,
  handle: async (request) => partOf(request, await current(request)),
});
