import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withQueryTimeout } from '../../../../postgres/driver/query-timeout.ts';
import { fakePool } from '../../../support/data/fake-pool.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const silent = () => new Promise<never>(() => {});
const refused = () => Promise.reject(new Error('ECONNREFUSED'));

it('lets a slow query continue for as long as the probe is answered', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let probes = 0;
  const probe = fakePool(async () => (probes += 1));
  const sql = withQueryTimeout(
    fakePool(() => promise),
    probe,
  );
  let isSettled = false;
  const result = sql`select 1`.then((rows) => rows).finally(() => (isSettled = true));
  await vi.advanceTimersByTimeAsync(9_000);
  expect(isSettled).toBe(false);
  expect(probes).toBeGreaterThan(4);
  resolve('late');
  expect(await result).toBe('late');
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  ['is silent', silent],
  ['cannot be reached', refused],
])('fails a query within 2 seconds when Postgres %s', async (_, answerProbe) => {
  const sql = withQueryTimeout(fakePool(silent), fakePool(answerProbe));
  let failure: unknown;
  sql`select 1`.catch((error: unknown) => (failure = error));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failure).toMatchObject({ code: 'NO_ANSWER' });
  expect(vi.getTimerCount()).toBe(0);
});
