import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs one call at a time. Callers that arrive while it runs share its result. A call that hangs is not repeated
 * until it ends.
 * @returns undefined if the call fails or takes longer than the limit
 */
export const singleFlight = <T>(
  call: () => Promise<T>,
  { limitMs }: { limitMs: number },
): (() => Promise<T | undefined>) => {
  let running: Promise<T | undefined> | undefined;
  return () => {
    running ??= call()
      .catch(() => undefined)
      .finally(() => {
        running = undefined;
      });
    return Promise.race([running, sleep(limitMs, undefined, { ref: false })]);
  };
};
