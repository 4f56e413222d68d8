import { html } from 'hono/html';
import type { ListPosition } from '../../contract/list.ts';
import { Refusal } from '../operations/change.ts';
import { labelOf, type Vocabulary } from '../operations/labels.ts';
import type { PaymentFilter } from '../../postgres/admin/payments.ts';
import type { Html } from './html.ts';
import { isZone } from './pages/settings.ts';
import { isEmptyRange, readExactTimes, readPeriod, readTimes, type TimeRequest } from './period.ts';
import type { ConsoleRequest } from './request.ts';

/** Lists have this many rows on a page. */
export const pageSize = 50;

/** The value of a choice; null for any other text. */
export const choose = <T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | null => choices.find((choice) => choice === query.get(name)) ?? null;

const position = /^(\d{1,13})\.([\w-]{1,64})$/;

/** The position after which a page begins. */
export const readPosition = (query: URLSearchParams): ListPosition | null => {
  const [, ms, id] = position.exec(query.get('after') ?? '') ?? [];
  if (ms === undefined || id === undefined) return null;
  const at = new Date(Number(ms));
  return Number.isNaN(at.getTime()) ? null : { at, id };
};

const slug = /^[a-z0-9-]{1,50}$/;

type FilterRequest = TimeRequest & Pick<ConsoleRequest, 'test'>;

/** Reads what every list can filter by: the mode of the person, the rest from the address. It ignores a value that makes no sense. */
export const readFilter = (
  request: FilterRequest,
  now: Date,
): Pick<PaymentFilter, 'application' | 'from' | 'to'> & { test: boolean } => {
  const { query, test } = request;
  const application = query.get('application') ?? '';
  return {
    application: slug.test(application) ? application : null,
    test,
    ...readTimes(request, now),
  };
};

export type ReadFields = Readonly<Record<string, string | Date | null>>;

/**
 * The fields of an address whose values make no sense: a list ignores them.
 * @param read what was read of each field; null: nothing
 */
export const unreadFields = (request: TimeRequest, read: ReadFields): string[] => {
  const { query } = request;
  const { from, to } = readExactTimes(request);
  const zone = query.get('zone') ?? '';
  const hasTimes = from !== null || to !== null;
  const all = {
    from,
    to,
    period: hasTimes || readPeriod(request) !== null ? '' : null,
    zone: !hasTimes || isZone(zone) ? zone : null,
    ...read,
  };
  return Object.entries(all)
    .filter(
      ([name, value]) =>
        query.getAll(name).length > 1 || (value === null && Boolean(query.get(name))),
    )
    .map(([name]) => name);
};

/** A list says that it ignores a field. A file would have more than its address asks for. @throws Refusal */
export const refuseUnread = (request: TimeRequest, read: ReadFields): void => {
  const [wrong] = unreadFields(request, read);
  if (wrong !== undefined)
    throw new Refusal(`No file was made: its address has a wrong value of ${wrong}.`);
  if (isEmptyRange(readExactTimes(request)))
    throw new Refusal('No file was made: the end of its time is not after its beginning.');
};

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

/** The list from its beginning, with these fields of its address instead. Null: without it. */
export const addressWith = (
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string => {
  const changed = new URLSearchParams(query);
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
