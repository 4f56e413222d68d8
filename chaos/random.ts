import { createHash } from 'node:crypto';

/** Random numbers from a seed, so that a run can be repeated as far as its timing allows. */
export interface Random {
  /** From 0 to 1, never 1. */
  next(): number;
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T extends {}>(from: readonly T[]): T;
  /** An independent source, so that the draws of one part do not change those of another. */
  branch(name: string): Random;
}

/** Mulberry32, public domain. */
export const createRandom = (seed: string): Random => {
  let state = createHash('sha256').update(seed).digest().readUInt32LE();
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    chance: (probability) => next() < probability,
    pick(from) {
      const picked = from[Math.floor(next() * from.length)];
      if (picked === undefined) throw new RangeError('There is nothing to pick from');
      return picked;
    },
    branch: (name) => createRandom(`${seed}/${name}`),
  };
};
