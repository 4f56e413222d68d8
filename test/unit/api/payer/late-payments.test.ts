import { expect, it } from 'vitest';
import {
  createSearchLate,
  type SearchedPayment,
  throttleRechecks,
} from '../../../../api/payer/late-payments.ts';

/** A throttled recheck that records its calls. */
const aRecheck = () => {
  const calls: { id: string; at: number; withinMs: number | undefined }[] = [];
  const recheck = throttleRechecks(async ({ id }: { id: string }, withinMs) => {
    calls.push({ id, at: performance.now(), withinMs });
  });
  return { calls, recheck };
};

it.concurrent(
  'rechecks a payment once in 3 seconds, and callers in between share the next recheck',
  async () => {
    const { calls, recheck } = aRecheck();
    await recheck({ id: 'PAY_1' }, 10_000);
    const early = Array.from({ length: 20 }, () => recheck({ id: 'PAY_1' }, 10_000));
    await recheck({ id: 'PAY_2' }, 10_000);
    expect(calls.map(({ id }) => id)).toEqual(['PAY_1', 'PAY_2']);
    const callsAtFirstResult = await Promise.race(early).then(() => calls.length);
    expect(callsAtFirstResult).toBe(3);
    await Promise.all(early);
    expect(calls.map(({ id }) => id)).toEqual(['PAY_1', 'PAY_2', 'PAY_1']);
    const [first, , second] = calls;
    expect(second!.at - first!.at).toBeGreaterThan(2_900);
    expect(second!.withinMs).toBeLessThan(7_500);
    let isResolved = false;
    void recheck({ id: 'PAY_1' }, 10_000).then(() => (isResolved = true));
    await new Promise(setImmediate);
    expect(isResolved, 'it does not share a recheck that is over').toBe(false);
  },
);

it.concurrent(
  'does not share a recheck that has begun, because the payer may have paid since',
  async () => {
    const begun: PromiseWithResolvers<void>[] = [];
    const recheck = throttleRechecks<{ id: string }>(() => {
      begun.push(Promise.withResolvers<void>());
      return begun.at(-1)!.promise;
    });
    const first = recheck({ id: 'PAY_1' }, 10_000);
    const second = recheck({ id: 'PAY_1' }, 10_000);
    begun[0]!.resolve();
    await first;
    await expect.poll(() => begun.length, { timeout: 10_000 }).toBe(2);
    begun[1]!.reject(new Error('away'));
    await expect(second).rejects.toThrow('away');
  },
);

it.concurrent('does not wait if too little time would be left for the recheck', async () => {
  const { calls, recheck } = aRecheck();
  await recheck({ id: 'PAY_1' }, 1_000);
  await recheck({ id: 'PAY_1' }, 1_000);
  expect(calls).toHaveLength(2);
  const others = [recheck({ id: 'PAY_1' }, 10_000), recheck({ id: 'PAY_1' }, 10_000)];
  await recheck({ id: 'PAY_1' }, 1_000);
  expect(calls).toHaveLength(3);
  await Promise.all(others);
  expect(calls).toHaveLength(4);
});

const hours = 60 * 60_000;

/** Searches for late money at a time that a test sets. */
const aSearch = ({ isOverBudget = false, fails = false } = {}) => {
  let nowMs = Date.now();
  let taken = 0;
  const calls: { askInMs: number | undefined }[] = [];
  const warnings: unknown[] = [];
  const search = createSearchLate({
    async recheckLatePayment(_, { askAt } = {}) {
      if (fails) throw new Error('Temporal is away');
      calls.push({ askInMs: askAt && askAt - nowMs });
    },
    budget: {
      take() {
        taken += 1;
        return isOverBudget ? undefined : 0;
      },
    },
    now: () => new Date(nowMs),
    logger: { warn: (...line: unknown[]) => void warnings.push(line) },
  });
  const payment = (fields: Partial<SearchedPayment> = {}): SearchedPayment => ({
    id: 'PAY_1',
    gateway: 'stripe',
    status: 'expired',
    updatedAt: new Date(nowMs),
    ...fields,
  });
  return {
    search,
    calls,
    warnings,
    payment,
    pass: (ms: number) => (nowMs += ms),
    countTaken: () => taken,
  };
};

it.each([
  ['47 hours ago', 47 * hours, 1],
  ['49 hours ago', 49 * hours, 0],
  ['a year ago', 365 * 24 * hours, 0],
])('a payment that ended %s (%i ms) gets %i searches', async (_, ms, count) => {
  const { search, calls, payment, pass } = aSearch();
  const ended = payment();
  pass(ms);
  await search(ended);
  expect(calls).toHaveLength(count);
});

it('starts no search for a paid payment, or beyond the budget of the gateway', async () => {
  const within = aSearch();
  await within.search(within.payment({ status: 'paid' }));
  const beyond = aSearch({ isOverBudget: true });
  await beyond.search(beyond.payment());
  expect([within.calls, beyond.calls]).toEqual([[], []]);
});

it.concurrent('takes from the budget once for returns that share a search', async () => {
  const { search, calls, payment, countTaken } = aSearch();
  await search(payment());
  const early = Array.from({ length: 20 }, () => search(payment()));
  await search(payment({ id: 'PAY_2' }));
  expect([calls.length, countTaken()]).toEqual([2, 2]);
  await Promise.all(early);
  expect([calls.length, countTaken()]).toEqual([3, 3]);
});

it.each([
  [1, 60_000],
  [2, 120_000],
  [3, 240_000],
  [7, hours],
  [1_000, hours],
])('the search after %i others asks %i ms after the last one', async (count, pauseMs) => {
  const { search, calls, payment, pass } = aSearch();
  const searched = payment({ lateSearches: count, lateSearchedAt: payment().updatedAt });
  for (let times = 0; times < 100; times += 1) await search(searched);
  // The search that waits covers all returns until then.
  expect(calls).toEqual([{ askInMs: pauseMs }]);
  pass(pauseMs + 1);
  await search(searched);
  expect(calls.slice(1)).toEqual([{ askInMs: undefined }]);
});

it('does not throw when Temporal is away, and the next return tries again', async () => {
  const { search, warnings, payment } = aSearch({ fails: true });
  const searched = payment({ lateSearches: 1, lateSearchedAt: payment().updatedAt });
  await search(searched);
  await search(searched);
  expect(warnings).toHaveLength(2);
});
