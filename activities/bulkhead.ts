export interface BulkheadOptions {
  /** Slots of each owner. */
  perOwner: number;
  /** A caller whose turn comes later than this finds the line full. The default is no limit. */
  longestLineMs?: number;
  /** Monotonic milliseconds. */
  clockMs?: () => number;
}

export type Acquisition =
  | { acquired: true; free: (use?: { failed: boolean }) => void }
  /**
   * All slots are in use: retry after this time. If the line is full, the caller has no position in it, and
   * should wait elsewhere.
   */
  | { acquired: false; retryAfterMs: number; lineIsFull: boolean };

interface Waiting {
  /** Rises with each payment that joins the line. */
  ticket: number;
  retryAtMs: number;
}

interface Owner {
  inUse: number;
  /** The rejected payments; the one that has waited longest is first. */
  line: Map<string, Waiting>;
  nextTicket: number;
  /** The recent average time of a slot in use. */
  averageUseMs: number;
  /** Since the last use of a slot that did not fail. */
  failuresInARow: number;
  /** When payments of the owner were last known to wait elsewhere, because the line was full. */
  backloggedAtMs: number;
}

const shortestDelayMs = 250;
const longestDelayMs = 5 * 60_000;
/** A payment this overdue has retried on another worker. */
const forgetAfterMs = 1_000;
const firstAverageMs = 250;
/** The part of the slots that is left to an owner who has a backlog and only fails. */
const failingShare = 1 / 4;
const rememberBacklogMs = 5 * 60_000;

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
  longestLineMs = Infinity,
  clockMs = () => performance.now(),
}: BulkheadOptions) => {
  // Admins create applications and gateways, so the map stays small.
  const owners = new Map<string, Owner>();

  const findOwner = (slug: string): Owner => {
    const existing = owners.get(slug);
    if (existing) return existing;
    const owner: Owner = {
      inUse: 0,
      line: new Map(),
      nextTicket: 0,
      averageUseMs: firstAverageMs,
      failuresInARow: 0,
      backloggedAtMs: -Infinity,
    };
    owners.set(slug, owner);
    return owner;
  };

  /**
   * The slots that an owner may use. If all uses fail while a long backlog waits, more slots would only
   * fail faster, and each use costs CPU. The first use that does not fail gives all slots back.
   */
  const slotsOf = ({ failuresInARow, backloggedAtMs }: Owner, nowMs: number): number => {
    const isBacklogged = nowMs - backloggedAtMs < rememberBacklogMs;
    return isBacklogged && failuresInARow >= perOwner
      ? Math.ceil(perOwner * failingShare)
      : perOwner;
  };

  const occupySlot = (owner: Owner): Acquisition => {
    const acquiredMs = clockMs();
    owner.inUse += 1;
    let isFreed = false;
    const free = ({ failed } = { failed: false }) => {
      if (isFreed) return;
      isFreed = true;
      owner.failuresInARow = failed ? owner.failuresInARow + 1 : 0;
      owner.inUse -= 1;
      owner.averageUseMs += (clockMs() - acquiredMs - owner.averageUseMs) / 8;
    };
    return { acquired: true, free };
  };

  return {
    /**
     * @param options.withinMs the longest useful delay; a later retry would be too late
     * @param options.isBacklogged more payments of the owner wait elsewhere
     */
    acquire(
      slug: string,
      paymentId: string,
      { withinMs = longestDelayMs, isBacklogged = false } = {},
    ): Acquisition {
      const nowMs = clockMs();
      const owner = findOwner(slug);
      if (isBacklogged) owner.backloggedAtMs = nowMs;
      const { inUse, line, averageUseMs } = owner;
      const slots = slotsOf(owner, nowMs);
      if (inUse < slots) {
        line.delete(paymentId);
        return occupySlot(owner);
      }
      forgetOverdue(line, nowMs);
      // A payment that retries without success keeps its ticket, so its delays become shorter.
      const ticket = line.get(paymentId)?.ticket ?? owner.nextTicket;
      const turnMs = (positionOf(ticket, owner) * averageUseMs) / slots;
      const longestMs = Math.min(withinMs, longestDelayMs);
      const retryAfterMs = Math.ceil(Math.max(Math.min(turnMs, longestMs), shortestDelayMs));
      const lineIsFull = turnMs > longestLineMs;
      if (lineIsFull) {
        owner.backloggedAtMs = nowMs;
        line.delete(paymentId);
      } else {
        owner.nextTicket = Math.max(owner.nextTicket, ticket + 1);
        // A Map keeps the position of a key that is set again.
        line.set(paymentId, { ticket, retryAtMs: nowMs + retryAfterMs });
      }
      return { acquired: false, retryAfterMs, lineIsFull };
    },
  };
};
export type Bulkhead = ReturnType<typeof createBulkhead>;

/** Forgets the payments at the head of the line that have retried on another worker. */
const forgetOverdue = (line: Map<string, Waiting>, nowMs: number): void => {
  for (const [id, { retryAtMs }] of line) {
    if (retryAtMs >= nowMs - forgetAfterMs) return;
    line.delete(id);
  }
};

/**
 * The position in the line, from 1 on. Estimated from the ticket, because counting a long line at each try
 * would use up the worker's CPU: payments that have left are assumed to be spread evenly over the line.
 */
const positionOf = (ticket: number, { line, nextTicket }: Owner): number => {
  const [first] = line.values();
  if (!first) return 1;
  const share = (ticket - first.ticket) / Math.max(nextTicket - first.ticket, 1);
  return 1 + Math.floor(line.size * share);
};
