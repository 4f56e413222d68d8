import { html } from 'hono/html';
import { eventIdPattern } from '../../contract/ids.ts';
import type { ListPosition } from '../../contract/list.ts';
import { hourMs } from '../../contract/time.ts';
import type { DeliveryRow } from '../../postgres/admin-events.ts';
import { labelOf, type Vocabulary } from '../operations/labels.ts';
import type { PaymentFilter } from '../../postgres/admin-payments.ts';
import type { Html } from './html.ts';
import { isZone } from './pages/settings.ts';
import type { ConsoleRequest } from './request.ts';
import { fromClockTime, toClockTime } from './zone.ts';

/** Lists have this many rows on a page. */
export const pageSize = 50;

const hours = {
  '15 minutes': 0.25,
  '1 hour': 1,
  '6 hours': 6,
  '24 hours': 24,
  '7 days': 168,
} as const;
type Period = keyof typeof hours;
const periods = Object.keys(hours) as Period[]; // Object.keys widens to string.

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

type TimeRequest = Pick<ConsoleRequest, 'query' | 'zone'>;
type FilterRequest = TimeRequest & Pick<ConsoleRequest, 'test'>;

const instant = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;

const readInstant = (text: string | null): Date | null => {
  const at = new Date(text !== null && instant.test(text) ? text : NaN);
  return Number.isNaN(at.getTime()) ? null : at;
};

/**
 * Exact times are instants, or those of a clock in the zone that the address names, so that a link shows everybody
 * the same.
 */
const readTimes = ({ query, zone: own }: TimeRequest): { from: Date | null; to: Date | null } => {
  const named = query.get('zone') ?? '';
  const zone = isZone(named) ? named : own;
  const read = (text: string | null) => readInstant(text) ?? fromClockTime(zone, text);
  return { from: read(query.get('from')), to: read(query.get('to')) };
};

/** Reads what every list can filter by: the mode of the person, the rest from the address. It ignores a value that makes no sense. */
export const readFilter = (
  request: FilterRequest,
  now: Date,
): Pick<PaymentFilter, 'application' | 'from' | 'to'> & { test: boolean } => {
  const { query, test } = request;
  const { from, to } = readTimes(request);
  const application = query.get('application') ?? '';
  const period = choose(query, 'period', periods);
  return {
    application: slug.test(application) ? application : null,
    test,
    from: from ?? (period === null || to ? null : new Date(now.getTime() - hours[period] * hourMs)),
    to,
  };
};

/** The position in a list of deliveries, which has the id of an event. */
export const readEventPosition = (query: URLSearchParams): ListPosition | null => {
  const after = readPosition(query);
  return after && eventIdPattern.test(after.id) ? after : null;
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
  }: {
    choices: readonly string[];
    chosen: string | null;
    any?: string | undefined;
    /** The choices are codes of it. */
    of?: Vocabulary;
  },
): Html =>
  html`<label>
    ${label}
    <select name="${name}">
      ${any === undefined ? '' : html`<option value="">${any}</option>`}
      ${choices.map(
        (choice) =>
          html`<option value="${choice}" ${choice === chosen ? html`selected` : ''}>${of ? labelOf(of, choice) : choice}</option>`,
      )}
    </select>
  </label>`;

const timeField = (label: string, name: string, zone: string, at: Date | null): Html =>
  html`<label>
    ${label}
    <input
      type="datetime-local"
      name="${name}"
      step="1"
      min="1970-01-02T00:00"
      max="9998-12-31T23:59"
      value="${at === null ? '' : toClockTime(zone, at)}"
    />
  </label>`;

/** The times, which every list can have. */
export const periodFilters = (request: TimeRequest): Html => {
  const { query, zone } = request;
  const { from, to } = readTimes(request);
  const hasTimes = from !== null || to !== null;
  return html`${select('Period', 'period', {
    choices: periods,
    chosen: hasTimes ? null : query.get('period'),
    any: hasTimes ? 'exact times' : 'any time',
  })}
    <input type="hidden" name="zone" value="${zone}" />
    <details ${hasTimes ? html`open` : ''}>
      <summary>Exact times</summary>
      <div>
        ${timeField(`From (${zone})`, 'from', zone, from)} ${timeField(`To (${zone})`, 'to', zone, to)}
      </div>
    </details>`;
};

/**
 * The choices of a list of all applications. A field for text needs `posts`: the form goes to the server first, which
 * keeps a pasted secret out of the address.
 */
export const listFilters = (
  request: TimeRequest & Pick<ConsoleRequest, 'csrf'>,
  {
    own,
    applications,
    posts,
  }: { own: Html; applications: readonly string[]; posts?: string | undefined },
): Html =>
  html`<form class="filters" ${posts === undefined ? html`method="get"` : html`method="post" action="${posts}"`}>
    ${posts === undefined ? '' : html`<input type="hidden" name="csrf" value="${request.csrf}" />`}
    ${own}
    ${select('Application', 'application', {
      choices: applications,
      chosen: request.query.get('application'),
      any: 'all',
    })}
    ${periodFilters(request)}
    <button>Filter</button>
  </form>`;

/** The address of the next page: the same filter, after this row. */
export const pageLinks = (path: string, query: URLSearchParams, next: string | null): Html => {
  const address = (after: string | null) => {
    const changed = new URLSearchParams(query);
    changed.delete('after');
    if (after !== null) changed.set('after', after);
    const text = String(changed);
    return text === '' ? path : `${path}?${text}`;
  };
  if (next === null && !query.has('after')) return html``;
  return html`<nav class="pages" aria-label="Pages">
    ${query.has('after') ? html`<a href="${address(null)}">Newest</a>` : ''}
    ${next === null ? '' : html`<a href="${address(next)}" rel="next">Older</a>`}
  </nav>`;
};

export const positionOf = ({ at, id }: ListPosition): string => `${at.getTime()}.${id}`;

/** The position of the next page of deliveries; null after the last page. */
export const nextPosition = (last: DeliveryRow | undefined): string | null =>
  last ? positionOf({ at: last.createdAt, id: last.eventId }) : null;
