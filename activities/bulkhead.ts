export interface BulkheadOptions {
  /** Slots of each owner. */
  perOwner: number;
  /** Monotonic milliseconds. */
  clockMs?: () => number;
}

export type Acquisition =
  | { acquired: true; release: () => void }
  /** All slots are in use: retry after this time. */
  | { acquired: false; retryAfterMs: number };

interface Owner {
  inUse: number;
  /** When each rejected payment is to retry; the one that has waited longest is first. */
  retries: Map<string, number>;
  /** The recent average time of a slot in use. */
  averageUseMs: number;
}

const shortestDelayMs = 250;
const longestDelayMs = 5 * 60_000;
/** A payment this overdue has retried on another worker. */
const forgetAfterMs = 1_000;
const firstAverageMs = 250;

/**
 * A bulkhead in this worker: each owner (a gateway or an application) has its own slots, so a slow one
 * does not use up the slots of others. A call never waits for a slot, since it would occupy one of the
 * worker's activity slots meanwhile: it gets a time to retry. Retries are staggered at the rate at which
 * slots become free, so that a long queue rarely polls Temporal. Slots are not reserved for a retry: it
 * may land on another worker, and a reserved slot would stay idle.
 *
 * p-limit does not fit: it queues its callers in memory and has no limit per owner.
 */
export const createBulkhead = ({
  perOwner,
  clockMs = () => performance.now(),
}: BulkheadOptions) => {
  // Admins create applications and gateways, so the map stays small.
  const owners = new Map<string, Owner>();

  const findOwner = (slug: string): Owner => {
    const existing = owners.get(slug);
    if (existing) return existing;
    const owner: Owner = { inUse: 0, retries: new Map(), averageUseMs: firstAverageMs };
    owners.set(slug, owner);
    return owner;
  };

  const occupySlot = (owner: Owner): Acquisition => {
    const acquiredMs = clockMs();
    owner.inUse += 1;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      owner.inUse -= 1;
      owner.averageUseMs += (clockMs() - acquiredMs - owner.averageUseMs) / 8;
    };
    return { acquired: true, release };
  };

  return {
    /** @param options.withinMs the longest useful delay; a later retry would be too late */
    acquire(slug: string, paymentId: string, { withinMs = longestDelayMs } = {}): Acquisition {
      const nowMs = clockMs();
      const owner = findOwner(slug);
      const { inUse, retries, averageUseMs } = owner;
      if (inUse < perOwner) {
        retries.delete(paymentId);
        return occupySlot(owner);
      }
      // A payment that retries without success keeps its position, so its delays become shorter.
      const position = countAhead(retries, paymentId, nowMs) + 1;
      const turnMs = (position * averageUseMs) / perOwner;
      const longestMs = Math.min(withinMs, longestDelayMs);
      const retryAfterMs = Math.ceil(Math.max(Math.min(turnMs, longestMs), shortestDelayMs));
      retries.set(paymentId, nowMs + retryAfterMs);
      return { acquired: false, retryAfterMs };
    },
  };
};
export type Bulkhead = ReturnType<typeof createBulkhead>;

/** Counts the payments that have waited longer than this one. */
const countAhead = (retries: Map<string, number>, paymentId: string, nowMs: number): number => {
  let ahead = 0;
  for (const [id, retryAtMs] of retries) {
    if (id === paymentId) break;
    if (retryAtMs < nowMs - forgetAfterMs) retries.delete(id);
    else ahead += 1;
  }
  return ahead;
};
