import { setTimeout as sleep } from 'node:timers/promises';
import type { Balance, StatementLine } from '../contract/book-entry.ts';
import { dayMs } from '../contract/time.ts';
import type { GatewayAdapter } from '../gateways/gateway.ts';

/** A gateway gets at most two pages a second. */
export const pagePauseMs = 500;
/** A slow gateway is left to the next day, so that it does not hold up this one. */
export const askingMs = 120_000;
/** 10,000 lines at Stripe. */
const mostPages = 100;
const mostTries = 3;

/** Each call needs an adapter of its own, which has some seconds for all of its calls. */
export type BalanceCalls = Required<Pick<GatewayAdapter, 'book' | 'balance'>>;

/**
 * The balance of an account at a time: the gateway's own of now, less what has moved since.
 * @returns null if that is too much, takes too long, or did not stand still while the gateway was asked
 */
export const readBalanceAt = async (
  { book, balance }: BalanceCalls,
  at: Date,
): Promise<Balance[] | null> => {
  const until = performance.now() + askingMs;
  // The clock of the gateway may be ahead.
  const period = { from: at, to: new Date(at.getTime() + 4 * dayMs) };
  let page = await book(period, null);
  for (let tries = 0; tries < mostTries; tries += 1) {
    const first = page.lines[0]?.id;
    const since = [...page.lines];
    for (let pages = 1; page.next !== null; pages += 1) {
      if (pages >= mostPages || performance.now() > until) return null;
      await sleep(pagePauseMs);
      page = await book(period, page.next);
      since.push(...page.lines);
    }
    const now = await balance();
    page = await book(period, null);
    if (page.lines[0]?.id === first) return less(now, since);
  }
  return null;
};

const less = (now: readonly Balance[], moved: readonly StatementLine[]): Balance[] => {
  const amounts = new Map(now.map(({ currency, amount }) => [currency, amount]));
  for (const { currency, amount, fee } of moved)
    amounts.set(currency, (amounts.get(currency) ?? 0) - (amount - fee));
  return [...amounts].map(([currency, amount]) => ({ currency, amount }));
};
