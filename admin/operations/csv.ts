import { currencyExponents } from '../../contract/money.ts';

/**
 * Matches the places where a spreadsheet takes a cell for a formula, behind blanks and characters that nobody sees. On machines
 * that separate lists with semicolons, a cell begins after those, too, and quotes do not help. A cell that begins with an
 * apostrophe gets another one, so that a program has the text back when it takes one away wherever a cell begins with it.
 */
const guarded =
  /^(?=[\t\r])|(?<=^|[;\t\r\n])(?='|[\s\p{Cc}\p{Cf}\p{DI}]*[=+\-@＝＋－＠﹦﹢﹣﹫])/gu;

const cell = (value: string | number | null): string => {
  const text = String(value ?? '');
  const harmless = typeof value === 'string' ? text.replaceAll(guarded, "'") : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

/** An amount as a number, so that no apostrophe comes before a minus sign. */
export const decimalOf = ({ amount, currency }: { amount: number; currency: string }): number => {
  const exponent = currencyExponents.get(currency) ?? 0;
  return Number((amount / 10 ** exponent).toFixed(exponent));
};

/** One line of a CSV file (RFC 4180). An apostrophe in front keeps a spreadsheet from executing a cell. */
export const csvLine = (values: readonly (string | number | null)[]): string =>
  `${values.map(cell).join(',')}\r\n`;
