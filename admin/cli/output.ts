import { escapeJson, terminalLine } from '../../contract/terminal-text.ts';
import { isoTime } from '../../contract/time.ts';

/** The result of a command, for people and for programs. */
export interface Output {
  /** Null: the command has printed its output itself. */
  text: string | null;
  json: unknown;
  /** For a person at the terminal. A file that takes the output does not get it: it may have to hold a secret alone. */
  note?: string;
  /** The exit code is 1, although the output is printed. */
  failed?: boolean;
  /** Reported after the output, which holds what was done before it. */
  error?: unknown;
}

export const secretNotice = 'It cannot be shown again.';

export type Cell = string | number | boolean | Date | null | undefined | readonly string[];

const cellText = (cell: Cell): string => {
  if (cell === null || cell === undefined) return '–';
  if (cell instanceof Date) return isoTime(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (Array.isArray(cell)) return cell.map((one) => terminalLine(String(one))).join('\n');
  return terminalLine(String(cell));
};

/** Formats rows in columns, each as wide as its widest line. */
const columns = (rows: readonly (readonly Cell[])[]): string => {
  const cells = rows.map((row) => row.map((cell) => cellText(cell).split('\n')));
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, lines] of row.entries())
      for (const line of lines) widths[column] = Math.max(widths[column] ?? 0, line.length);
  return cells.flatMap((row) => rowLines(row, widths)).join('\n');
};

const rowLines = (row: readonly string[][], widths: readonly number[]): string[] =>
  Array.from({ length: Math.max(...row.map((lines) => lines.length)) }, (_, index) =>
    row
      .map((lines, column) => (lines[index] ?? '').padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );

/** Rows under headings, which are the names of their cells, or the sentence `ifEmpty`. */
export const table = (rows: readonly Readonly<Record<string, Cell>>[], ifEmpty: string): string => {
  const [first] = rows;
  if (!first) return ifEmpty;
  const headings = Object.keys(first).map((name) => name.toUpperCase());
  return columns([headings, ...rows.map((row) => Object.values(row))]);
};

/** One line for each name and value. A name begins with a small letter. */
export const facts = (entries: Readonly<Record<string, Cell>>): string =>
  columns(
    Object.entries(entries).map(([name, cell]) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      cell,
    ]),
  );

/** JSON with the API's names and times, and with every control and format character escaped. */
export const jsonText = (value: unknown): string =>
  escapeJson(JSON.stringify(toWire(value), undefined, 2));

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
