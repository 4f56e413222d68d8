import { html } from 'hono/html';
import { notice } from './html.ts';
import { type ConsoleResponse, page, type PersonRequest } from './request.ts';

/** @param problem of a query */
export const unusedText = (problem: string): string =>
  `A part of this address is not understood, and not used. ${problem}`;

/** A page says above all what it does not use of its address. A file has no place for such a sentence. */
export const withUnused = (
  response: ConsoleResponse,
  { query }: PersonRequest,
): ConsoleResponse => {
  const problem = query.problem();
  if (problem === null) return response;
  if (response.kind === 'page') {
    const content = html`${notice('bad', unusedText(problem))} ${response.content}`;
    return { ...response, content };
  }
  const isShown = response.kind === 'file' || (response.kind === 'part' && response.content);
  return isShown ? page('Not understood', notice('bad', unusedText(problem)), 400) : response;
};
