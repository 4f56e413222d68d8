import type { Logger } from '../../telemetry/log.ts';

/** `return`: a verification of an open payment. `late`: a search for money of an ended one. */
export type PayerWork = 'return' | 'late';

export interface Deps {
  /** Milliseconds. */
  now: () => number;
  logger: Pick<Logger, 'warn'>;
}

/** Less than the 100 that the sweeper may ask one gateway, see inquiries.ts. */
const perSecond = 80;
const burst = 100;
/** A late search starts a workflow, and many at once would slow down Temporal for everybody. */
const costs = { return: 1, late: 16 } as const satisfies Record<PayerWork, number>;
/** Late searches leave the other half to payers of open payments, who are waiting. */
const leftByLate = burst / 2;
/** A crowd of payers who return at once waits for at most this long. */
const longestWaitMs = 3_000;
const logEveryMs = 60_000;

/**
 * Bounds the work that payers' pages cause at each gateway, and thereby in Temporal: a link never expires,
 * and anybody may open it again and again. Admins create gateways, so the map stays small.
 */
export const createGatewayBudget = ({ now, logger }: Deps) => {
  const buckets = new Map<string, { tokens: number; filledAt: number; loggedAt: number }>();
  return {
    /**
     * @returns in how many ms the work may begin, which is always 0 for a late search; undefined if the
     *   gateway's budget is used up: then the work must not begin
     */
    take(gateway: string, work: PayerWork): number | undefined {
      const time = now();
      const bucket = buckets.get(gateway) ?? {
        tokens: burst,
        filledAt: time,
        loggedAt: -Infinity,
      };
      buckets.set(gateway, bucket);
      // A clock that is set back fills nothing.
      const seconds = Math.max(time - bucket.filledAt, 0) / 1000;
      bucket.tokens = Math.min(burst, bucket.tokens + seconds * perSecond);
      bucket.filledAt = time;
      const left = bucket.tokens - costs[work];
      const waitMs = Math.ceil((Math.max(-left, 0) / perSecond) * 1000);
      if (work === 'late' ? left >= leftByLate : waitMs <= longestWaitMs) {
        bucket.tokens = left;
        return waitMs;
      }
      if (time - bucket.loggedAt >= logEveryMs) {
        bucket.loggedAt = time;
        logger.warn(
          { gateway, work },
          'Payers return more often than their gateway may be asked; the sweeper asks it later',
        );
      }
      return undefined;
    },
  };
};
export type GatewayBudget = ReturnType<typeof createGatewayBudget>;
