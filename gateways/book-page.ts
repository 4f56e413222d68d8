import type { BookEntry, StatementLine } from '../contract/book-entry.ts';
import type { BookPage } from './gateway.ts';

/** A transaction of a gateway's list, as an entry of its book and a line of its statement. */
export interface ListedTransaction {
  id: string;
  /** Its amount and its fee may have a fraction of our minor unit. */
  entry: BookEntry | undefined;
  line: StatementLine | undefined;
}

/**
 * Makes a page of a book, whatever the list holds. A transaction counts once. An amount with a fraction of our minor unit is money
 * that nobody here can have, so its entry is a difference. So is a fee with a fraction, as an entry of its own.
 */
export const toBookPage = (listed: readonly ListedTransaction[], next: string | null): BookPage => {
  const entries: BookEntry[] = [];
  const lines: StatementLine[] = [];
  for (const { entry, line } of new Map(listed.map((each) => [each.id, each])).values()) {
    if (entry) entries.push(...inWholeUnits(entry));
    if (line) lines.push({ ...line, amount: Math.round(line.amount), fee: Math.round(line.fee) });
  }
  return { entries, lines, next };
};

const inWholeUnits = (entry: BookEntry): BookEntry[] => {
  const { id, kind, name = kind, amount, fee } = entry;
  const other = (its: string, of: number) =>
    ({ ...entry, kind: 'other', name: `${its}, ${of}`, amount: Math.round(of) }) as const;
  const whole = Number.isInteger(amount) ? entry : other(name, amount);
  if (fee === null || Number.isInteger(fee)) return [whole];
  return [
    { ...whole, fee: null },
    { ...other('fee', -fee), id: `${id}-fee`, source: null, fee: null },
  ];
};
