import { html } from 'hono/html';
import { isoTime } from '../../contract/time.ts';
import { deliveryStateOf, labelOf, type Vocabulary } from '../operations/labels.ts';
import { formatIn, formatShort } from './zone.ts';

/** A part of a page, already escaped. */
export type Html = ReturnType<typeof html>;

/** The scripts that join letters: between two of them, a joiner belongs to the spelling. */
const joiningScripts =
  'Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'.split(' ');
const joining = `[[${joiningScripts.map((script) => `\\p{scx=${script}}`).join('')}]&&[\\p{L}\\p{M}]]`;
const visible = `\\p{RGI_Emoji}|(?<=${joining})[\\u200c\\u200d](?=${joining})|[\\t\\n\\u0600-\\u0605\\u06dd]`;
const visibleOrControl = new RegExp(
  `(?:${visible})|(?<control>[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}])`,
  'gv',
);

/**
 * External text: order ids, gateways' messages, receivers' answers. Control and format characters, which
 * hide or reverse text, are shown as code points. The template escapes the rest.
 */
export const escapeControls = (text: string): string =>
  text.replace(visibleOrControl, (shown: string, control: string | undefined) => {
    if (control === undefined) return shown;
    return control === '\r'
      ? ''
      : `‹U+${(control.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`;
  });

export const externalText = (text: string): Html => html`<bdi>${escapeControls(text)}</bdi>`;

export type Cell = Html | string | number | Date | null | undefined;

export type Row = Readonly<Record<string, Cell>>;

/** Formats times of one zone. */
export type FormatTime = (at: Date) => string;

/** `2026-11-23 14:05:09 +01:00`, in the zone that the person chose. */
export const timeIn =
  (zone: string): FormatTime =>
  (at) =>
    formatIn(zone, at);

export const time = (at: Date, format: FormatTime): Html =>
  html`<time datetime="${isoTime(at)}">${format(at)}</time>`;

/** The column of the actions stays inside of the box, whatever the others need. */
const actionsClass = (heading: string): Html => (heading === 'Action' ? html`class="act"` : html``);

/** Makes cells of one page: times in its zone, the control characters of external texts escaped. */
export const cellsOf = (format: FormatTime, zone = 'UTC') => {
  /** Columns have no room for the date, the seconds and the zone in each row. */
  const columnCell = (value: Cell): Html =>
    value instanceof Date
      ? html`<time datetime="${isoTime(value)}" title="${format(value)}" data-full="${format(value)}">${formatShort(zone, value, new Date())}</time>`
      : cell(value);
  const heading = (name: string, rows: readonly Row[]): Html =>
    html`<th scope="col" ${actionsClass(name)}>${name}${
      rows.some((row) => row[name] instanceof Date) ? html` <span class="zone">${zone}</span>` : ''
    }</th>`;
  const cell = (value: Cell): Html => {
    if (value === null || value === undefined || value === '')
      return html`<span class="none">–</span>`;
    if (value instanceof Date) return time(value, format);
    // The template's own results are strings with a mark.
    if (typeof value === 'object') return value;
    return externalText(String(value));
  };
  return {
    cell,
    /** Rows under headings, which are the names of their cells. On a phone each cell carries its heading. */
    table: ({
      caption,
      rows,
      ifEmpty,
      isList = false,
    }: {
      caption: string;
      rows: readonly Row[];
      ifEmpty: string;
      /** Rows that explain themselves: on a phone they have two lines and no headings. */
      isList?: boolean;
    }): Html =>
      rows[0] === undefined
        ? html`<p class="empty">${ifEmpty}</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
            <table ${isList ? html`class="list"` : ''}>
              <caption class="hidden">${caption}</caption>
              <thead>
                <tr>${Object.keys(rows[0]).map((name) => heading(name, rows))}</tr>
              </thead>
              <tbody>
                ${rows.map(
                  (row) =>
                    html`<tr>${Object.entries(row).map(
                      ([name, value]) =>
                        html`<td data-heading="${name}" ${actionsClass(name)}><div>${columnCell(value)}</div></td>`,
                    )}</tr>`,
                )}
              </tbody>
            </table>
          </div>`,
    /** Names with their values, without those that have none. */
    facts: (entries: Row): Html =>
      html`<dl class="facts">${Object.entries(entries)
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => html`<div><dt>${name}</dt><dd>${cell(value)}</dd></div>`)}</dl>`,
  };
};
export type Cells = ReturnType<typeof cellsOf>;

/** The shape says the same as the colour. */
const marks = {
  good: '●',
  bad: '▲',
  open: '○',
  off: '■',
} as const;

const kinds: Readonly<Record<string, keyof typeof marks>> = {
  paid: 'good',
  delivered: 'good',
  ok: 'good',
  succeeded: 'good',
  active: 'good',
  enabled: 'good',
  valid: 'good',
  open: 'good',
  failed: 'bad',
  exhausted: 'bad',
  failing: 'bad',
  doubtful: 'bad',
  unproven: 'open',
  missing: 'bad',
  done: 'good',
  set: 'good',
  pending: 'open',
  processing: 'open',
  running: 'open',
  stopping: 'open',
  to_confirm: 'open',
  needs_response: 'open',
  under_review: 'open',
  won: 'good',
  lost: 'bad',
};

/** A word with the mark of its kind. */
export const marked = (kind: keyof typeof marks, word: string): Html =>
  html`<span class="state ${kind}"><span aria-hidden="true">${marks[kind]}</span> ${word}</span>`;

export const state = (name: string): Html => marked(kinds[name] ?? 'off', name);

/** The word for a code. The code itself, which the API and the files have, appears under the pointer. */
export const coded = (of: Vocabulary, code: string): Html => {
  const word = escapeControls(labelOf(of, code));
  return word === code ? html`${word}` : html`<span class="code" title="${code}">${word}</span>`;
};

/** The word for a code with the code beside it, as applications have it. */
export const withCode = (of: Vocabulary, code: string): Html =>
  html`${escapeControls(labelOf(of, code))} <code class="soft nowrap">${code}</code>`;

/** The word for the code of a state, with the mark of its kind. */
export const codedState = (of: Vocabulary, code: string): Html =>
  html`<span class="state ${kinds[code] ?? 'off'}" title="${code}"><span aria-hidden="true">${marks[kinds[code] ?? 'off']}</span> ${escapeControls(labelOf(of, code))}</span>`;

export const deliveryState = (...delivery: Parameters<typeof deliveryStateOf>): Html =>
  codedState('delivery', deliveryStateOf(...delivery));

/** External text on one line, cut where the column ends. */
export const cut = (text: string): Html =>
  html`<bdi class="cut" title="${escapeControls(text)}">${escapeControls(text)}</bdi>`;

/** Parts of a cell in a line each; null without any. */
export const stacked = (...parts: readonly (Html | null)[]): Html | null => {
  const lines = parts.filter((part) => part !== null).map((part) => html`<div>${part}</div>`);
  return lines.length === 0 ? null : html`${lines}`;
};

/** A button that copies a text, for browsers with scripts. */
export const copyable = (text: string, label: string): Html =>
  html`<button type="button" class="copy" data-copy="${text}" aria-label="${label}" title="${label}"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3" /></svg></button>`;

/** Says that no real money is meant. */
export const modeTag = (test: boolean): Html =>
  test ? html`<span class="tag">test</span>` : html``;

export const link = (href: string, label: string): Html =>
  html`<a href="${href}">${externalText(label)}</a>`;

/** An id of ours, which breaks anywhere on a phone. */
export const idLink = (href: string, id: string): Html =>
  html`<a class="id" href="${href}" title="${id}">${id}</a>`;

/** The end of an id in a list, with the whole id to copy. */
export const shortId = (href: string, id: string): Html =>
  html`<span class="short-id">${idLink(href, id)} ${copyable(id, 'Copy the id')}</span>`;

/** A word of ours that is not broken across lines. */
export const nowrap = (text: string): Html => html`<span class="nowrap">${text}</span>`;

export const action = (href: string, label: string): Html =>
  html`<a class="button" href="${href}">${label}</a>`;

/** A setting with a link to the page that changes it. */
export const changeable = (value: Html | string | number, href: string, name: string): Html =>
  html`${typeof value === 'object' ? value : externalText(String(value))} <a class="change" href="${href}">Change<span class="hidden">: ${name}</span></a>`;

export const notice = (kind: 'info' | 'good' | 'bad', content: Html | string): Html =>
  html`<div class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${typeof content === 'string' ? escapeControls(content) : content}</div>`;
