import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readBalanceAt } from '../../../activities/account-balance.ts';
import { readPayouts } from '../../../activities/account-payouts.ts';
import type { StatementLine } from '../../../contract/book-entry.ts';

const at = new Date('2026-11-20T00:00:00Z');
const lineOf = (id: string, amount: number, currency = 'EUR'): StatementLine => ({
  ...{ id, at, kind: 'payment', type: 'charge', category: null, amount, fee: 1, currency },
  ...{ availableOn: null, source: null, payout: null },
});
const pageOf = (lines: StatementLine[], next: string | null = null) => ({
  entries: [],
  lines,
  next,
});

describe('readBalanceAt', () => {
  it('takes what has moved since from the balance of now, in each currency', async () => {
    const first = pageOf([lineOf('3', 10), lineOf('2', -7, 'JPY')], 'more');
    const told = await readBalanceAt(
      {
        book: async (_, after) => (after === null ? first : pageOf([lineOf('1', 5)])),
        balance: async () => [{ currency: 'EUR', amount: 100 }],
      },
      at,
    );
    expect(told).toEqual([
      { currency: 'EUR', amount: 100 - 9 - 4 },
      { currency: 'JPY', amount: 8 },
    ]);
  });

  it('reads again while something moves, and tells nothing of a balance that never stands still', async () => {
    const moving = (quietAfter: number) => {
      let moved = 0;
      const lines: StatementLine[] = [];
      return {
        book: async () => pageOf([...lines]),
        // A payment comes just before the balance is read.
        balance: async () => {
          if ((moved += 1) <= quietAfter) lines.unshift(lineOf(`${moved}`, 11));
          return [{ currency: 'EUR', amount: 50 + 10 * lines.length }];
        },
      };
    };
    expect(await readBalanceAt(moving(2), at)).toEqual([{ currency: 'EUR', amount: 50 }]);
    expect(await readBalanceAt(moving(3), at)).toBeNull();
  });
});

describe('a slow gateway is left to the next day', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    return () => vi.useRealTimers();
  });

  it('with its balance', async () => {
    let pages = 0;
    const book = async () => {
      pages += 1;
      vi.advanceTimersByTime(40_000);
      return pageOf([lineOf('1', 5)], 'more');
    };
    expect(await readBalanceAt({ book, balance: async () => [] }, at)).toBeNull();
    expect(pages).toBe(4);
  });

  it('with the rest of its payouts', async () => {
    let recorded = 0;
    const payouts = async () => {
      vi.advanceTimersByTime(40_000);
      return { payouts: [], next: 'more' };
    };
    await readPayouts(payouts, at, async () => void (recorded += 1));
    expect(recorded).toBe(3);
  });
});
