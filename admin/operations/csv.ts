import { typedMoney } from '../../contract/money.ts';

/**
 * Matches the places where a spreadsheet takes a cell for a formula, behind blanks and characters that nobody sees. On machines
 * that separate lists with semicolons, a cell begins after those, too, and quotes do not help. A cell that begins with an
 * apostrophe gets another one, so that a program has the text back when it takes one away wherever a cell begins with it.
 */
const guarded =
  /^(?=[\t\r])|(?<=^|[;\t\r\n])(?='|[\s\p{Cc}\p{Cf}\p{DI}]*[=+\-@＝＋－＠﹦﹢﹣﹫])/gu;

/** A number that is written as it is, so that no apostrophe comes before its minus sign. */
interface Decimal {
  decimal: string;
}

export type Cell = string | number | Decimal | null;

const cell = (value: Cell): string => {
  if (typeof value !== 'string')
    return value && typeof value === 'object' ? value.decimal : String(value ?? '');
  const harmless = value.replaceAll(guarded, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

/** An amount with all decimals of its currency. */
export const decimalOf = (money: { amount: number; currency: string }): Decimal => ({
  decimal: typedMoney(money),
});

/** One line of a CSV file (RFC 4180). An apostrophe in front keeps a spreadsheet from executing a cell. */
export const csvLine = (values: readonly Cell[]): string => `${values.map(cell).join(',')}\r\n`;

/** The lines of a CSV file with these columns. */
export const csvOf = <Row extends readonly unknown[]>(
  columns: Readonly<Record<string, (...row: Row) => Cell>>,
) => ({
  heading: csvLine(Object.keys(columns)),
  line: (...row: Row): string => csvLine(Object.values(columns).map((valueOf) => valueOf(...row))),
});
