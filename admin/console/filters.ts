import { html } from 'hono/html';
import type { ListPosition } from '../../contract/list.ts';
import { labelOf, type Vocabulary } from '../operations/labels.ts';
import type { PaymentFilter } from '../../postgres/admin/payments.ts';
import type { Html } from './html.ts';
import { readTimes, type TimeRequest } from './period.ts';
import { Query } from './query.ts';
import type { ConsoleRequest } from './request.ts';

/** Lists have this many rows on a page. */
export const pageSize = 50;

const position = /^(\d{1,13})\.([\w-]{1,64})$/;

/** The position after which a page begins. */
export const readPosition = (query: Query, idPattern = /^/): ListPosition | null =>
  query.read('after', (text) => {
    const [, ms, id] = position.exec(text) ?? [];
    if (ms === undefined || id === undefined || !idPattern.test(id)) return null;
    const at = new Date(Number(ms));
    return Number.isNaN(at.getTime()) ? null : { at, id };
  });

const slug = /^[a-z0-9-]{1,50}$/;

/** The application that an address names. */
export const readApplication = (query: Query): string | null =>
  query.read('application', (text) => (slug.test(text) ? text : null));

/** A page shows the things of an application or of all, in the mode of the person. */
export const readOwner = ({ query, test }: Pick<ConsoleRequest, 'query' | 'test'>) => ({
  application: readApplication(query),
  test,
});

/** Reads what most lists can filter by. */
export const readFilter = (
  request: TimeRequest & Pick<ConsoleRequest, 'test'>,
  now: Date,
): Pick<PaymentFilter, 'application' | 'from' | 'to'> & { test: boolean } => ({
  ...readOwner(request),
  ...readTimes(request, now),
});

/** Lists read one row more than a page has. @returns the rows of the page; the last one if another page follows */
export const pageOf = <T>(
  found: readonly T[],
  size = pageSize,
): { rows: T[]; last: T | undefined } => {
  const rows = found.slice(0, size);
  return { rows, last: found.length > size ? rows.at(-1) : undefined };
};

export const select = (
  label: string,
  name: string,
  {
    choices,
    chosen,
    any,
    of,
    notes = {},
  }: {
    choices: readonly string[];
    chosen: string | null;
    any?: string | undefined;
    /** The choices are codes of it. */
    of?: Vocabulary;
    /** A remark about a choice that a person must know before choosing it. */
    notes?: Readonly<Record<string, string>>;
  },
): Html =>
  html`<label>
    ${label}
    <select name="${name}">
      ${any === undefined ? '' : html`<option value="">${any}</option>`}
      ${choices.map(
        (choice) =>
          html`<option value="${choice}" ${choice === chosen ? html`selected` : ''}>${of ? labelOf(of, choice) : choice}${notes[choice] === undefined ? '' : ` (${notes[choice]})`}</option>`,
      )}
    </select>
  </label>`;

/** The list from its beginning, with these fields of its address instead. Null: without it. The link leaves out what the list did not use. */
export const addressWith = (
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string => {
  const changed = new URLSearchParams(query instanceof Query ? query.used() : query);
  changed.delete('after');
  for (const [name, value] of Object.entries(changes))
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  // A browser without scripts sends the fields that were left empty.
  const hasTimes = Boolean(changed.get('from') || changed.get('to'));
  const asked = [...changed].filter(
    ([name, value]) => value !== '' && (name !== 'zone' || hasTimes),
  );
  const text = String(new URLSearchParams(asked));
  return text === '' ? path : `${path}?${text}`;
};

/** The address of the next page: the same filter, after this row. */
export const pageLinks = (path: string, query: URLSearchParams, next: string | null): Html => {
  const address = (after: string | null) => addressWith(path, query, { after });
  if (next === null && !query.has('after')) return html``;
  return html`<nav class="pages" aria-label="Pages">
    ${query.has('after') ? html`<a href="${address(null)}">Newest</a>` : ''}
    ${next === null ? '' : html`<a href="${address(next)}" rel="next">Older</a>`}
  </nav>`;
};

export const positionOf = ({ at, id }: ListPosition): string => `${at.getTime()}.${id}`;
