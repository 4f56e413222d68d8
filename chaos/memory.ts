import { setTimeout as sleep } from 'node:timers/promises';
import type { Member } from '../tools/production/member.ts';
import { residentMb } from '../tools/production/usage.ts';

/** The memory of one process at one time. */
export interface MemorySample {
  /** Minutes since it was ready. */
  age: number;
  /** Resident, in millions of bytes. */
  mb: number;
}

/**
 * The sums from which the growth of a role's memory follows. They add up over lives and over runs. Each life is
 * measured from its own mean, so that one process with more memory than another is no growth.
 */
export interface MemorySums {
  samples: number;
  lives: number;
  /** Squares and products of the differences from the mean age and the mean memory of a life. */
  ages: number;
  products: number;
  memories: number;
}

export interface MemoryTrend {
  samples: number;
  lives: number;
  /** In millions of bytes an hour, with its standard error. */
  growth: number;
  error: number;
}

const everyMs = 5_000;
/** V8 compiles and fills its caches in the first minutes of a process. */
const warmMinutes = 5;
/** Fewer samples of a life have no direction. */
const minSamples = 12;

/** Measures every process now and then until the signal. @returns the samples of each life, by role */
export const watchMemory = async (
  members: readonly Member[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly (readonly MemorySample[])[]>> => {
  const lives = new Map<string, Map<number, MemorySample[]>>();
  while (!signal.aborted) {
    // Postgres has a process for each connection.
    for (const { role, lives: all } of members.filter(({ part }) => part !== 'postgres')) {
      const { pid, readyAt, endedAt } = all.at(-1) ?? {};
      if (pid === undefined || readyAt === undefined || endedAt !== undefined) continue;
      const age = (Date.now() - readyAt) / 60_000;
      const mb = residentMb(pid);
      if (mb === undefined || age < warmMinutes) continue;
      const ofRole = lives.get(role) ?? new Map<number, MemorySample[]>();
      lives.set(role, ofRole.set(pid, [...(ofRole.get(pid) ?? []), { age, mb }]));
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
  return new Map([...lives].map(([role, byPid]) => [role, [...byPid.values()]]));
};

const noSums: MemorySums = { samples: 0, lives: 0, ages: 0, products: 0, memories: 0 };

export const addSums = (one: MemorySums, other: MemorySums): MemorySums => ({
  samples: one.samples + other.samples,
  lives: one.lives + other.lives,
  ages: one.ages + other.ages,
  products: one.products + other.products,
  memories: one.memories + other.memories,
});

export const sumLives = (lives: readonly (readonly MemorySample[])[]): MemorySums =>
  lives
    .filter(({ length }) => length >= minSamples)
    .map((samples) => {
      const meanAge = samples.reduce((sum, { age }) => sum + age, 0) / samples.length;
      const meanMb = samples.reduce((sum, { mb }) => sum + mb, 0) / samples.length;
      const sumOf = (term: (age: number, mb: number) => number) =>
        samples.reduce((sum, { age, mb }) => sum + term(age - meanAge, mb - meanMb), 0);
      return {
        samples: samples.length,
        lives: 1,
        ages: sumOf((age) => age * age),
        products: sumOf((age, mb) => age * mb),
        memories: sumOf((_age, mb) => mb * mb),
      };
    })
    .reduce(addSums, noSums);

/** The straight line through the samples of all lives. Undefined with too few of them. */
export const trendOf = ({ samples, lives, ages, products, memories }: MemorySums) => {
  const free = samples - lives - 1;
  if (free < 1 || ages === 0) return undefined;
  const slope = products / ages;
  const error = Math.sqrt(Math.max(0, memories - slope * products) / free / ages);
  return { samples, lives, growth: slope * 60, error: error * 60 } satisfies MemoryTrend;
};
