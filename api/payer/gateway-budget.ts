import type { Logger } from '../../telemetry/log.ts';
import { setRecent } from '../http/lru.ts';

/** `return`: a verification of an open payment. `late`: a search for money of an ended one. */
export type PayerWork = 'return' | 'late';

export interface Deps {
  /** Milliseconds. */
  now: () => number;
  logger: Pick<Logger, 'warn'>;
}

/**
 * Together less than the 100 a second that the sweeper may ask one gateway, see inquiries.ts. A late search
 * starts a workflow, and many at once would slow down Temporal for everybody. A crowd of payers who return
 * at once waits for at most `longestWaitMs`.
 */
const limits = {
  return: { perSecond: 75, burst: 95, longestWaitMs: 3_000 },
  late: { perSecond: 5, burst: 5, longestWaitMs: 5_000 },
} as const satisfies Record<PayerWork, unknown>;
const logEveryMs = 60_000;
const tooOften = {
  return: 'Payers return more often than their gateway may be asked; the sweeper asks it later',
  late: 'Payers return to ended payments more often than late money may be searched; no search starts',
} as const satisfies Record<PayerWork, string>;

/**
 * Bounds the work that payers' pages cause at each gateway, and thereby in Temporal: a link never expires,
 * and anybody may open it again and again. Admins create gateways, so the map stays small.
 */
export const createGatewayBudget = ({ now, logger }: Deps) => {
  const buckets = new Map<string, { tokens: number; filledAt: number; loggedAt: number }>();
  /** When shared work begins. */
  const beginsAt = new Map<string, number>();
  return {
    /**
     * @param shared names work that many pages share: it takes once
     * @returns in how many ms the work may begin; undefined if the gateway's budget is used up: then the
     *   work must not begin
     */
    take(gateway: string, work: PayerWork, shared?: string): number | undefined {
      const { perSecond, burst, longestWaitMs } = limits[work];
      const time = now();
      const begins = shared === undefined ? undefined : beginsAt.get(shared);
      if (begins !== undefined) return Math.max(begins - time, 0);
      const key = `${work} ${gateway}`;
      const bucket = buckets.get(key) ?? { tokens: burst, filledAt: time, loggedAt: -Infinity };
      buckets.set(key, bucket);
      // A clock that is set back fills nothing.
      const seconds = Math.max(time - bucket.filledAt, 0) / 1000;
      bucket.tokens = Math.min(burst, bucket.tokens + seconds * perSecond);
      bucket.filledAt = time;
      const left = bucket.tokens - 1;
      const waitMs = Math.ceil((Math.max(-left, 0) / perSecond) * 1000);
      if (waitMs <= longestWaitMs) {
        bucket.tokens = left;
        if (shared !== undefined) setRecent(beginsAt, shared, time + waitMs);
        return waitMs;
      }
      if (time - bucket.loggedAt >= logEveryMs) {
        bucket.loggedAt = time;
        logger.warn({ gateway, work }, tooOften[work]);
      }
      return undefined;
    },

    /** For work that turned out to be superfluous. */
    giveBack(gateway: string, work: PayerWork): void {
      const bucket = buckets.get(`${work} ${gateway}`);
      if (bucket) bucket.tokens += 1;
    },
  };
};
export type GatewayBudget = ReturnType<typeof createGatewayBudget>;
