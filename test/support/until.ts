import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until `look` returns a value that is neither undefined nor false, and returns that. A long wait polls
 * less often: the polls of files that wait side by side would keep a core busy.
 */
export const until = async <T>(
  what: string,
  look: () => T | Promise<T>,
  limitMs = 120_000,
): Promise<NonNullable<Exclude<T, false>>> => {
  const startedAt = performance.now();
  for (;;) {
    const value = await look();
    // Neither of the two values that say "not yet".
    if (value) return value as NonNullable<Exclude<T, false>>;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > limitMs) throw new Error(`Not within ${limitMs} ms: ${what}`);
    await sleep(Math.min(200, Math.max(25, waitedMs / 10)));
  }
};
