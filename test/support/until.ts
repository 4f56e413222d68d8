import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a fact that comes about by itself. @returns the first value that is not undefined or false */
export const until = async <T>(
  what: string,
  look: () => T | Promise<T>,
  limitMs = 60_000,
): Promise<NonNullable<Exclude<T, false>>> => {
  for (const end = Date.now() + limitMs; ; await sleep(25)) {
    const seen = await look();
    // Neither of the two values that say "not yet".
    if (seen) return seen as NonNullable<Exclude<T, false>>;
    if (Date.now() > end) throw new Error(`Waited ${limitMs} ms in vain: ${what}`);
  }
};
