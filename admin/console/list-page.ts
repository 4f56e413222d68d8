import { html } from 'hono/html';
import type { ListPosition } from '../../contract/list.ts';
import { applicationChoice, type Bar, filterBar, leadToList } from './filter-bar.ts';
import { pageLinks, pageOf, pageSize, positionOf, readPosition } from './filters.ts';
import type { Html, Row } from './html.ts';
import { visibleApplications } from './owner.ts';
import {
  type ConsoleResponse,
  page,
  type PersonRequest,
  type PersonRoute,
  type Route,
} from './request.ts';
import { saveView } from './pages/views.ts';

/** The rows of a page, and the position of the next page; null after the last one. */
export interface Listed<Item> {
  rows: readonly Item[];
  next: string | null;
}

/** Reads the page that the address asks for, and one row more. */
export const findPage = async <Item>(
  { query }: Pick<PersonRequest, 'query'>,
  find: (page: { after: ListPosition | null; limit: number }) => Promise<Item[]>,
  placeOf: (item: Item) => ListPosition,
  idPattern?: RegExp,
): Promise<Listed<Item>> => {
  const after = readPosition(query, idPattern);
  const { rows, last } = pageOf(await find({ after, limit: pageSize + 1 }));
  return { rows, next: last ? positionOf(placeOf(last)) : null };
};

interface List<Item> extends Omit<Bar, 'choices'> {
  title: string;
  listed: Listed<Item>;
  rowOf: (item: Item) => Row;
  ifEmpty: string;
  /** The name of the table; else the title. */
  caption?: string;
  choices?: Bar['choices'];
  /** A person can choose an application, and has chosen this one. */
  application?: string | null;
  /** A person can save the list as it is filtered. */
  isSaved?: boolean;
  /** The list has looked at no older record of this kind than those of then. */
  searched?: { records: string; backTo: Date | null | undefined };
  /** They stand before the filter, above the table, and at the end. */
  parts?: Partial<Record<'first' | 'above' | 'last', Html | ''>>;
  /** Puts the table into something else, e.g. a form. */
  around?: (table: Html) => Html;
}

/** A list in pages: its filter, its table, and the ways to the newest and the next page. */
export const listPage = async <Item>(
  request: PersonRequest,
  { title, listed, rowOf, ifEmpty, caption = title, parts = {}, around, ...list }: List<Item>,
): Promise<ConsoleResponse> => {
  const { path, choices = [], application, isSaved = false, others, searched, ...bar } = list;
  const { rows, next } = listed;
  const since =
    searched?.backTo && `The list has searched back to ${request.formatTime(searched.backTo)}.`;
  const ofApplication =
    application === undefined
      ? []
      : [applicationChoice(request, await visibleApplications(request), application)];
  const table = request.cells.table({
    caption,
    rows: rows.map(rowOf),
    ifEmpty: since ? `None of the newest ${searched?.records} matches. ${since}` : ifEmpty,
    isList: true,
  });
  return page(
    title,
    html`${parts.first}
      ${filterBar(request, {
        ...bar,
        path,
        choices: [...choices, ...ofApplication],
        others: html`${isSaved ? saveView(path, request) : ''} ${others}`,
      })}
      ${parts.above} ${around ? around(table) : table}
      ${since && rows.length > 0 ? html`<p class="soft">${since} “Older” looks further.</p>` : ''}
      ${pageLinks(path, request.query, next)} ${parts.last}`,
  );
};

export const firstPage = { after: null, limit: pageSize };

/** A short list on the page of another thing; undefined if it is empty. */
export const partOf = (
  caption: string,
  rows: readonly Row[],
  { cells }: Pick<PersonRequest, 'cells'>,
): Html | undefined =>
  rows.length === 0 ? undefined : cells.table({ caption, rows, ifEmpty: '', isList: true });

/** The list, and the form of its filter, which goes to the server first: that keeps a pasted secret out of the address. */
export const listRoutes = (
  path: string,
  handle: PersonRoute['handle'],
  owner?: 'list',
): Route[] => [
  { method: 'GET', path, role: 'viewer', owner, handle },
  {
    method: 'POST',
    path: `${path}/filter`,
    role: 'viewer',
    owner: owner && 'person',
    handle: leadToList(path),
  },
];
