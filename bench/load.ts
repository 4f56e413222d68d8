import { setTimeout as sleep } from 'node:timers/promises';

export interface Bounds {
  atOnce: number;
  /** At most this many are started, and none after the time. */
  count: number;
  limitMs: number;
}

export interface Finished {
  count: number;
  elapsedMs: number;
}

/** Starts the next piece of work as soon as one is done, and waits for the last. */
export const closedLoop = async (
  { atOnce, count, limitMs }: Bounds,
  work: () => Promise<unknown>,
): Promise<Finished> => {
  const startedAt = performance.now();
  let started = 0;
  let done = 0;
  const lane = async () => {
    while (started < count && performance.now() - startedAt < limitMs) {
      started += 1;
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { count: done, elapsedMs: performance.now() - startedAt };
};

export const perSecond = ({ count, elapsedMs }: Finished): number => (count * 1000) / elapsedMs;

/** Starts work at a steady rate, however long each piece takes. Returns the result of each piece. */
export const steadily = async <T>(
  { rate, seconds }: { rate: number; seconds: number },
  work: () => Promise<T>,
): Promise<T[]> => {
  const startedAt = performance.now();
  const all: Promise<T>[] = [];
  for (let index = 0; index < rate * seconds; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1000) / rate - performance.now()));
    all.push(work());
  }
  return Promise.all(all);
};

/** The milliseconds that the work takes. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** The value that this share of all values stays below. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
};
