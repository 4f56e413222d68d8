import { setTimeout as sleep } from 'node:timers/promises';

export interface Bounds {
  /** How many are under way at the same time. */
  atOnce: number;
  /** No more than this many are begun, and none after the time. */
  count: number;
  limitMs: number;
}

export interface Finished {
  count: number;
  elapsedMs: number;
}

/** Begins the next piece of work as soon as one is done, and waits for the last. */
export const closedLoop = async (
  { atOnce, count, limitMs }: Bounds,
  work: () => Promise<unknown>,
): Promise<Finished> => {
  const began = performance.now();
  let begun = 0;
  let done = 0;
  const lane = async () => {
    while (begun < count && performance.now() - began < limitMs) {
      begun += 1;
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { count: done, elapsedMs: performance.now() - began };
};

export const perSecondOf = ({ count, elapsedMs }: Finished): number => (count * 1000) / elapsedMs;

/**
 * Begins work at a steady rate, however long each takes.
 * @returns what each took in milliseconds, or gave instead
 */
export const steadily = async (
  { perSecond, seconds }: { perSecond: number; seconds: number },
  work: () => Promise<number | void>,
): Promise<number[]> => {
  const began = performance.now();
  const all: Promise<number>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await sleep(Math.max(0, began + (index * 1000) / perSecond - performance.now()));
    all.push(timed(work));
  }
  return Promise.all(all);
};

const timed = async (work: () => Promise<number | void>): Promise<number> => {
  const began = performance.now();
  return (await work()) ?? performance.now() - began;
};

/** The value below which this share of all lies. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
};
