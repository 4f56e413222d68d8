import type { BookEntry, StatementLine } from '../contract/book-entry.ts';
import type { BookPage } from './gateway.ts';

/** A transaction of a gateway's list, as an entry of its book and a line of its statement. */
export interface ListedTransaction {
  id: string;
  /** Its amount may have a fraction of our minor unit. */
  entry: BookEntry | undefined;
  line: StatementLine | undefined;
}

/**
 * Makes a page of a book, whatever the list holds. A transaction counts once. An amount with a fraction of our minor unit is money
 * that nobody here can have, so its entry is a difference.
 */
export const toBookPage = (listed: readonly ListedTransaction[], next: string | null): BookPage => {
  const entries: BookEntry[] = [];
  const lines: StatementLine[] = [];
  for (const { entry, line } of new Map(listed.map((each) => [each.id, each])).values()) {
    if (entry) entries.push(inWholeUnits(entry));
    if (line) lines.push({ ...line, amount: Math.round(line.amount) });
  }
  return { entries, lines, next };
};

const inWholeUnits = (entry: BookEntry): BookEntry => {
  const { kind, name = kind, amount } = entry;
  if (Number.isInteger(amount)) return entry;
  return { ...entry, kind: 'other', name: `${name}, ${amount}`, amount: Math.round(amount) };
};
