export interface BulkheadOptions {
  /** How much may run at once for one owner, of all the worker's slots. */
  perOwner: number;
  /** Monotonic milliseconds. */
  clockMs?: () => number;
}

export type Entry =
  /** To be left when the work is over. */
  | { entered: true; leave: () => void }
  /** All places are taken: the work goes back to the engine for so long. */
  | { entered: false; retryAfterMs: number };

interface Owner {
  inside: number;
  /** When those who were sent away are to come back, by payment; who waits longest is first. */
  waiting: Map<string, number>;
  /** How long a place was held lately, on average. */
  heldMs: number;
}

const shortestWaitMs = 250;
const longestWaitMs = 5 * 60_000;
/** Who is this late went to another worker. */
const forgetAfterMs = 1_000;
const firstGuessMs = 250;

/**
 * Bulkhead in a worker, so many for each owner and never more: a slow receiver fills the places of its
 * application's deliveries, a slow gateway those of its own calls, and not the others'. Who finds
 * none is given a time to come back, one after the other at the pace at which places become free, so
 * that a long queue asks the engine for little. No place is kept for those who are to come back: the
 * engine may send them to another worker, and what every worker kept would stay empty.
 */
export const createBulkhead = ({
  perOwner,
  clockMs = () => performance.now(),
}: BulkheadOptions) => {
  // As many as there are applications and gateways, which admins make: it needs no end.
  const owners = new Map<string, Owner>();

  const find = (slug: string): Owner => {
    const known = owners.get(slug);
    if (known) return known;
    const fresh: Owner = { inside: 0, waiting: new Map(), heldMs: firstGuessMs };
    owners.set(slug, fresh);
    return fresh;
  };

  const enter = (owner: Owner): Entry => {
    const enteredMs = clockMs();
    owner.inside += 1;
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      owner.inside -= 1;
      owner.heldMs += (clockMs() - enteredMs - owner.heldMs) / 8;
    };
    return { entered: true, leave };
  };

  return {
    /**
     * Never waits itself: who waits would hold one of the worker's slots. `withinMs`: for whom it would be
     * too late after that.
     */
    take(slug: string, paymentId: string, { withinMs = longestWaitMs } = {}): Entry {
      const nowMs = clockMs();
      const owner = find(slug);
      const { inside, waiting, heldMs } = owner;
      if (inside < perOwner) {
        waiting.delete(paymentId);
        return enter(owner);
      }
      // Who comes back in vain stays ahead of those who came later, and is sent away for less.
      const turnMs = ((aheadOf(waiting, paymentId, nowMs) + 1) * heldMs) / perOwner;
      const mostMs = Math.min(withinMs, longestWaitMs);
      const retryAfterMs = Math.ceil(Math.max(Math.min(turnMs, mostMs), shortestWaitMs));
      waiting.set(paymentId, nowMs + retryAfterMs);
      return { entered: false, retryAfterMs };
    },
  };
};
export type Bulkhead = ReturnType<typeof createBulkhead>;

/** How many have waited longer than this one. */
const aheadOf = (waiting: Map<string, number>, paymentId: string, nowMs: number): number => {
  let ahead = 0;
  for (const [id, backMs] of waiting) {
    if (id === paymentId) break;
    if (backMs < nowMs - forgetAfterMs) waiting.delete(id);
    else ahead += 1;
  }
  return ahead;
};
