import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks one at a time: whoever comes meanwhile gets the same answer, and what hangs is not asked again
 * until it ends. Undefined when it fails or takes longer than the limit.
 */
export const singleFlight = <T>(
  ask: () => Promise<T>,
  { limitMs }: { limitMs: number },
): (() => Promise<T | undefined>) => {
  let running: Promise<T | undefined> | undefined;
  return () => {
    running ??= ask()
      .catch(() => undefined)
      .finally(() => {
        running = undefined;
      });
    return Promise.race([running, sleep(limitMs, undefined, { ref: false })]);
  };
};
