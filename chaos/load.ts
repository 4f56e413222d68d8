import { setTimeout as sleep } from 'node:timers/promises';
import { isServed, type OpeningOutage } from './fallbacks.ts';
import type { Gateway, OpeningFault } from './gateways.ts';
import type { Random } from './random.ts';
import type { CreatedPayment } from './scenarios.ts';

/** The stretches of the load, by their share of its payments. In some of them a gateway with fallbacks opens nothing. */
const stretches = [
  { from: 0, to: 0.05, isDown: false },
  { from: 0.05, to: 0.35, isDown: true },
  { from: 0.35, to: 0.6, isDown: false },
  { from: 0.6, to: 0.9, isDown: true },
  { from: 0.9, to: 1, isDown: false },
];

const longestWaitMs = 120_000;
const lookEveryMs = 100;

export interface LoadOptions {
  /** The number of payments. */
  payments: number;
  /** The time over which their creation is spread evenly, without the waits. */
  loadMs: number;
  gateways: readonly Gateway[];
  random: Random;
  /** The payments that were created so far. */
  created: () => readonly CreatedPayment[];
  maxWaitMs?: number;
}

/**
 * Decides when each payment is created and when openings fail. After a stretch in which they fail, the load waits until another
 * gateway has opened one of its payments: a busy machine needs longer for that.
 */
export const createLoad = ({
  payments,
  loadMs,
  gateways,
  random,
  created,
  maxWaitMs = longestWaitMs,
}: LoadOptions) => {
  const begun = stretches.map(() => Promise.withResolvers<void>());
  const unsteady = gateways.filter(({ fallbacks }) => fallbacks.length > 0);
  let isWaiting = false;

  const waitUntilServed = async (outages: readonly OpeningOutage[]) => {
    isWaiting = true;
    const until = Date.now() + maxWaitMs;
    while (!outages.every((each) => isServed(each, created())) && Date.now() < until)
      await sleep(lookEveryMs);
    isWaiting = false;
  };

  const failOpenings = async (fault: OpeningFault, ms: number): Promise<OpeningOutage[]> => {
    const from = Date.now();
    for (const gateway of unsteady) gateway.failOpenings(fault);
    await sleep(ms);
    await waitUntilServed(
      unsteady.map((gateway) => ({ gateway, fault, from, to: Number.POSITIVE_INFINITY })),
    );
    for (const gateway of unsteady) gateway.failOpenings(undefined);
    const to = Date.now();
    return unsteady.map((gateway) => ({ gateway, fault, from, to }));
  };

  return {
    isWaiting: () => isWaiting,

    /** Resolves when it is the turn of the payment with this index. */
    async turnOf(index: number): Promise<void> {
      const share = index / payments;
      const nth = stretches.findIndex(({ to }) => share < to);
      await begun[nth]?.promise;
      await sleep(loadMs * (share - (stretches[nth]?.from ?? 0)));
    },

    /** Goes through all stretches. A gateway hangs in one of them and refuses in the other. */
    async run(): Promise<OpeningOutage[]> {
      const faults: OpeningFault[] = random.chance(0.5) ? ['hang', 'refuse'] : ['refuse', 'hang'];
      const outages: OpeningOutage[] = [];
      for (const [nth, { from, to, isDown }] of stretches.entries()) {
        begun[nth]?.resolve();
        const ms = loadMs * (to - from);
        const fault = isDown ? faults.shift() : undefined;
        if (fault) outages.push(...(await failOpenings(fault, ms)));
        else await sleep(ms);
      }
      return outages;
    },
  };
};
export type Load = ReturnType<typeof createLoad>;
