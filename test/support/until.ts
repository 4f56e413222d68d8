import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until `look` returns a value that is neither undefined nor false, and returns that. */
export const until = async <T>(
  what: string,
  look: () => T | Promise<T>,
  limitMs = 60_000,
): Promise<NonNullable<Exclude<T, false>>> => {
  for (const end = Date.now() + limitMs; ; await sleep(25)) {
    const value = await look();
    // Neither of the two values that say "not yet".
    if (value) return value as NonNullable<Exclude<T, false>>;
    if (Date.now() > end) throw new Error(`Not within ${limitMs} ms: ${what}`);
  }
};
