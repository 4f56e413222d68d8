import { isoTime } from '../../contract/time.ts';

/** What a command has to say, for people and for programs. */
export interface Output {
  text: string;
  json: unknown;
  /** Shown as an answer, but by its exit code a failure. */
  failed?: boolean;
}

/**
 * Text from outside without what moves a terminal's cursor, recolours it or turns its text around:
 * control and format characters. An order id or a receiver's answer can hold them.
 */
export const clean = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, (found) => (/^[\t\r\n]+$/.test(found) ? ' ' : ''));

export type Cell = string | number | boolean | Date | null | undefined | readonly string[];

const cellText = (cell: Cell): string => {
  if (cell === null || cell === undefined) return '–';
  if (cell instanceof Date) return isoTime(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (Array.isArray(cell)) return cell.map((one) => clean(String(one))).join('\n');
  return clean(String(cell));
};

/** Cells below each other, each column as wide as its widest line. */
const columns = (rows: readonly (readonly Cell[])[]): string => {
  const cells = rows.map((row) => row.map((cell) => cellText(cell).split('\n')));
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, lines] of row.entries())
      for (const line of lines) widths[column] = Math.max(widths[column] ?? 0, line.length);
  return cells.flatMap((row) => linesOf(row, widths)).join('\n');
};

const linesOf = (row: readonly string[][], widths: readonly number[]): string[] =>
  Array.from({ length: Math.max(...row.map((lines) => lines.length)) }, (_, index) =>
    row
      .map((lines, column) => (lines[index] ?? '').padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );

/** Rows under headings; a sentence where there are none. */
export const table = (
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  none: string,
): string =>
  rows.length === 0 ? none : columns([headings.map((one) => one.toUpperCase()), ...rows]);

/** Names with their values, a line each. */
export const facts = (entries: Readonly<Record<string, Cell>>): string =>
  columns(Object.entries(entries));

/** Names as the API writes them, times as everywhere, and no control character that JSON lets through. */
export const jsonText = (value: unknown): string =>
  // Line ends are JSON.stringify's own: those inside of strings it escapes.
  JSON.stringify(toWire(value), undefined, 2).replace(
    /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) =>
      character
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
  );

const toWire = (value: unknown): unknown => {
  if (value instanceof Date) return isoTime(value);
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
      toWire(inner),
    ]),
  );
};
