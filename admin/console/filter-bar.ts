import { html } from 'hono/html';
import { hasSecret } from '../operations/change.ts';
import { labelOf, type Vocabulary } from '../operations/labels.ts';
import { addressWith, select } from './filters.ts';
import { escapeControls, type Html, notice } from './html.ts';
import {
  emptyRange,
  isEmptyRange,
  type Period,
  readExactTimes,
  readPeriod,
  shortPeriods,
  type TimeRequest,
  usualPeriods,
} from './period.ts';
import { oneOf, type Query } from './query.ts';
import { type ConsoleResponse, type PersonRequest, redirect } from './request.ts';
import { toClockTime } from './zone.ts';

/** A part of the filter that has some choices. */
export interface Choice<Code extends string = string> {
  label: string;
  name: string;
  choices: readonly Code[];
  chosen: Code | null;
  /** The words for no choice. Without them one is always chosen. */
  any?: string | undefined;
  /** The choices are codes of it. */
  of?: Vocabulary;
  /** Without it the person sees another one of the choices, and not all. */
  isBound?: boolean;
}

/** A choice of the address; null for any other text. */
export const choiceOf = <Code extends string>(
  query: Query,
  name: string,
  choices: readonly Code[],
  words: Pick<Choice, 'label' | 'any' | 'of'>,
): Choice<Code> => ({
  any: 'all',
  ...words,
  name,
  choices,
  chosen: query.read(name, oneOf(choices)),
});

/** Choices under the names that a filter has for them. */
export type Choices<Filter> = { readonly [Name in keyof Filter]?: Choice };

/** The part of a filter that is chosen. */
export const chosenOf = <Of extends Readonly<Record<string, Choice>>>(choices: Of) =>
  Object.fromEntries(Object.entries(choices).map(([name, { chosen }]) => [name, chosen])) as {
    [Name in keyof Of]: Of[Name]['chosen'];
  }; // Object.fromEntries forgets the keys.

/** A part of the filter that is set. */
export interface Chip {
  words: string;
  /** The fields of the address without which it is not set. Empty: it always is. */
  names: readonly string[];
}

export interface Bar {
  path: string;
  choices?: readonly Choice[];
  /** Fields for text. */
  texts?: { fields: Html; isWrong?: boolean };
  /** Parts that a text has set, or a link of another page. */
  chips?: readonly Chip[];
  /** False: the list is not one of times. */
  hasTimes?: boolean;
  /** Fields of the address that the form has no field for. */
  kept?: readonly string[];
  /** Links and forms that stand in the line, too. */
  others?: Html | undefined;
}

const timeNames = ['period', 'from', 'to', 'zone'] as const;

const without = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The people of some applications always see one of these. */
export const applicationChoice = (
  { session }: Pick<PersonRequest, 'session'>,
  applications: readonly string[],
  chosen: string | null,
): Choice => {
  const isBound = session.applications !== null;
  const any = isBound ? undefined : 'all';
  return { label: 'Application', name: 'application', choices: applications, chosen, any, isBound };
};

const isUsual = (period: Period): boolean => usualPeriods.some((usual) => usual === period);

const timeChips = (request: PersonRequest): Chip[] => {
  const period = readPeriod(request);
  if (period !== null)
    return isUsual(period) ? [] : [{ words: `Last ${period}`, names: ['period'] }];
  const { from, to } = readExactTimes(request);
  return [
    ...(from ? [{ words: `From ${request.formatTime(from)}`, names: ['from', 'period'] }] : []),
    ...(to ? [{ words: `Until ${request.formatTime(to)}`, names: ['to', 'period'] }] : []),
  ];
};

const choiceChip = (
  { label, name, chosen, any, of, isBound = false }: Choice,
  query: URLSearchParams,
): Chip[] => {
  if (chosen === null) return [];
  const isSet = !isBound && (any !== undefined || query.get(name) === chosen);
  const words = `${label}: ${of ? labelOf(of, chosen) : chosen}`;
  return [{ words, names: isSet ? [name] : [] }];
};

const chipsOf = (request: PersonRequest, bar: Bar): Chip[] => {
  const { choices = [], chips = [], hasTimes = true } = bar;
  return [
    ...choices.flatMap((choice) => choiceChip(choice, request.query)),
    ...chips,
    ...(hasTimes ? timeChips(request) : []),
  ];
};

/** A part that is set, with the address of the list without it. */
const chipPart = (words: string, href: string | null): Html => {
  const text = escapeControls(words);
  const shown = html`<bdi title="${text}">${text}</bdi>`;
  return href === null
    ? html`<li><span class="chip">${shown}</span></li>`
    : html`<li><a class="chip" href="${href}" aria-label="Remove ${text}">${shown} <span aria-hidden="true">×</span></a></li>`;
};

const periodPart = (request: TimeRequest, path: string, offered: readonly Period[]): Html => {
  const chosen = readPeriod(request);
  const address = (period: Period | null) =>
    addressWith(path, request.query, { ...without(timeNames), period });
  return html`${offered.map((period) =>
    period === chosen
      ? chipPart(capitalized(period), address(null))
      : html`<li><a href="${address(period)}">${capitalized(period)}</a></li>`,
  )}`;
};

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

const timeFields = (request: TimeRequest): Html => {
  const { zone } = request;
  const { from, to } = readExactTimes(request);
  return html`<input type="hidden" name="period" value="${readPeriod(request) ?? ''}" />
    <input type="hidden" name="zone" value="${zone}" />
    ${timeField(`From (${zone})`, 'from', zone, from)} ${timeField(`To (${zone})`, 'to', zone, to)}`;
};

const form = (request: PersonRequest, bar: Bar): Html => {
  const { path, choices = [], texts, hasTimes = true, kept = [] } = bar;
  const { query, csrf } = request;
  const used = new Map(query.used());
  return html`<details ${texts?.isWrong ? html`open` : ''}>
    <summary>${hasTimes ? 'More' : 'Filter'}</summary>
    ${hasTimes ? html`<ul class="bar" aria-label="Short times">${periodPart(request, path, shortPeriods)}</ul>` : ''}
    <form class="filters" ${texts ? html`method="post" action="${path}/filter"` : html`method="get" action="${path}"`}>
      ${texts ? html`<input type="hidden" name="csrf" value="${csrf}" />` : ''}
      ${kept.map((name) => html`<input type="hidden" name="${name}" value="${used.get(name) ?? ''}" />`)}
      ${choices.map(({ label, name, ...choice }) => select(label, name, choice))}
      ${texts?.fields ?? ''} ${hasTimes ? timeFields(request) : ''}
      <button>Filter</button>
    </form>
  </details>`;
};

/** The filter of a list in one line: the usual times, what is set, and all fields behind one word. */
export const filterBar = (request: PersonRequest, bar: Bar): Html => {
  const { path, choices = [], texts, hasTimes = true, others } = bar;
  const { query } = request;
  const chips = chipsOf(request, bar);
  const period = hasTimes ? readPeriod(request) : null;
  const set = [
    ...chips.filter(({ names }) => names.length > 0),
    ...(period !== null && isUsual(period) ? [{ names: ['period'] }] : []),
  ];
  const nothing = without(set.flatMap(({ names }) => names));
  return html`<div class="bar">
    ${hasTimes ? html`<ul class="bar" aria-label="Times">${periodPart(request, path, usualPeriods)}</ul>` : ''}
    ${
      chips.length === 0
        ? ''
        : html`<ul class="bar" aria-label="Filter">${chips.map(({ words, names }) =>
            chipPart(words, names.length === 0 ? null : addressWith(path, query, without(names))),
          )}</ul>`
    }
    ${set.length > 1 ? html`<a href="${addressWith(path, query, nothing)}">Clear all</a>` : ''}
    ${choices.length > 0 || texts || hasTimes ? form(request, bar) : ''}
    ${others ?? ''}
  </div>
  ${hasTimes && isEmptyRange(readExactTimes(request)) ? notice('bad', emptyRange) : ''}`;
};

/** Leads to the list, without what was not asked for, and without a pasted secret. */
export const leadToList =
  (path: string) =>
  async ({ form: fields }: PersonRequest): Promise<ConsoleResponse> => {
    const asked = [...fields].filter(([name, value]) => name !== 'csrf' && !hasSecret(value));
    return redirect(addressWith(path, new URLSearchParams(asked), {}));
  };
