import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { html } from 'hono/html';
import type { AccountDifferenceKind } from '../../../contract/account-difference.ts';
import { link, type Html } from '../html.ts';
import { page, type Route } from '../request.ts';

const folder = 'docs/operating';
const [, ...sections] = readFileSync(
  join(import.meta.dirname, '../../..', folder, 'differences.md'),
  'utf8',
).split(/^## /m);

/** A link to another page of the documentation, which the console does not have, names its file. */
const linkTo = (text: string, target: string): Html => {
  const [file = ''] = target.split('#');
  return html`${inline(text)} (<code>${posix.join(folder, file)}</code>)`;
};

const inline = (text: string): Html => {
  const [found] = text.matchAll(/\[([^\]]+)\]\(([^)]+)\)|\*\*([^*]+)\*\*|`([^`]+)`/g);
  if (!found) return html`${text}`;
  const [whole, words, target = '', strong, code] = found;
  const rest = text.slice(found.index + whole.length);
  const shown = words
    ? linkTo(words, target)
    : strong
      ? html`<strong>${strong}</strong>`
      : html`<code>${code}</code>`;
  return html`${text.slice(0, found.index)}${shown}${inline(rest)}`;
};

/** The sections of docs/operating/differences.md: the meaning of each kind, and what to do about it. */
const guide = new Map(
  sections.map((section) => {
    const [heading = '', first = '', ...others] = section.trim().split('\n\n');
    const [mark = '', kind = ''] = /^`(\w+)`: /.exec(first) ?? [];
    const text = first.slice(mark.length);
    const paragraphs = [text.slice(0, 1).toUpperCase() + text.slice(1), ...others].map(
      (paragraph) => html`<p>${inline(paragraph)}</p>`,
    );
    return [kind, { heading, content: html`${paragraphs}` }] as const;
  }),
);

/** The section of a kind, without its heading. A newer version may have recorded one that is unknown here. */
export const guideOf = (kind: AccountDifferenceKind): Html => guide.get(kind)?.content ?? html``;

export const guideLink = (kind: AccountDifferenceKind, words = 'What to do'): Html =>
  link(`/accounts/differences#${kind}`, words);

export const differenceGuideRoute: Route = {
  method: 'GET',
  path: '/accounts/differences',
  role: 'viewer',
  owner: 'person',
  handle: async () =>
    page(
      'Differences, and what to do',
      html`<p class="links">${link('/accounts#differences', 'Open differences')}</p>
        ${[...guide].map(
          ([kind, { heading, content }]) =>
            html`<section id="${kind}"><h2>${heading}</h2>${content}</section>`,
        )}`,
    ),
};
