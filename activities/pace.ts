/**
 * Lets callers go on one after the other, at most so many a second. A caller waits in its turn; if that is too far
 * away, it is told so and should wait elsewhere.
 */
export const createPace = ({
  perSecond,
  longestWaitMs,
}: {
  perSecond: number;
  longestWaitMs: number;
}) => {
  let nextAt = -Infinity;
  return {
    /** @returns the milliseconds until the caller's turn; undefined if the line is full */
    takeTurn(nowMs = performance.now()): number | undefined {
      const at = Math.max(nextAt, nowMs);
      if (at - nowMs > longestWaitMs) return undefined;
      nextAt = at + 1000 / perSecond;
      return at - nowMs;
    },
  };
};
export type Pace = ReturnType<typeof createPace>;
