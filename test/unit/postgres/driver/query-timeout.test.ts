import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Sql } from '../../../../postgres/driver/connection.ts';
import { withQueryTimeout } from '../../../../postgres/driver/query-timeout.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pool that answers every statement alike. */
const answering = (answer: () => Promise<unknown>) =>
  // All that a deadline asks of a pool: to be called.
  (() => answer()) as unknown as Sql;
const silent = () => new Promise<never>(() => {});
const refused = () => Promise.reject(new Error('ECONNREFUSED'));

it('a statement that is merely slow goes on for as long as it takes', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let probes = 0;
  const probe = answering(async () => (probes += 1));
  const sql = withQueryTimeout(
    answering(() => promise),
    probe,
  );
  let isOver = false;
  const answer = sql`select 1`.then((rows) => rows).finally(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(9_000);
  expect(isOver).toBe(false);
  expect(probes).toBeGreaterThan(4);
  resolve('late');
  expect(await answer).toBe('late');
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  ['says nothing', silent],
  ['cannot be reached', refused],
])('a statement fails within 2 seconds where Postgres %s', async (_, asked) => {
  const sql = withQueryTimeout(answering(silent), answering(asked));
  let failure: unknown;
  sql`select 1`.catch((error: unknown) => (failure = error));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failure).toMatchObject({ code: 'NO_ANSWER' });
  expect(vi.getTimerCount()).toBe(0);
});
