export interface PlacesOptions {
  /** How many deliveries of one application may run at once, of all the worker's slots. */
  perApplication: number;
  /** Monotonic milliseconds. */
  clockMs?: () => number;
}

export type Entry =
  /** To be left when the attempt is over. */
  | { entered: true; leave: () => void }
  /** All places are taken: the delivery goes back to the engine for so long. */
  | { entered: false; comeBackInMs: number };

interface Application {
  inside: number;
  /** When those who were sent away are to come back, by payment; who waits longest is first. */
  waiting: Map<string, number>;
  /** How long a place was held lately, on average. */
  heldMs: number;
}

const shortestWaitMs = 250;
const longestWaitMs = 5 * 60_000;
/** Who is this late went to another worker. */
const forgetAfterMs = 15_000;
const firstGuessMs = 1_000;

/**
 * The places of a worker's deliveries, so many for each application and never more: a slow receiver
 * fills its own places, and not the others'. Who finds none is given a time to come back, one after
 * the other at the pace at which places become free, so that a long queue asks the engine for little.
 */
export const createDeliveryPlaces = ({
  perApplication,
  clockMs = () => performance.now(),
}: PlacesOptions) => {
  // As many as there are applications, which admins make: it needs no end.
  const applications = new Map<string, Application>();

  const find = (slug: string): Application => {
    const known = applications.get(slug);
    if (known) return known;
    const fresh: Application = { inside: 0, waiting: new Map(), heldMs: firstGuessMs };
    applications.set(slug, fresh);
    return fresh;
  };

  const enter = (application: Application): Entry => {
    const enteredMs = clockMs();
    application.inside += 1;
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      application.inside -= 1;
      application.heldMs += (clockMs() - enteredMs - application.heldMs) / 8;
    };
    return { entered: true, leave };
  };

  return {
    /** Never waits itself: a waiting delivery would hold one of the worker's slots. */
    take(slug: string, paymentId: string): Entry {
      const nowMs = clockMs();
      const application = find(slug);
      const { inside, waiting, heldMs } = application;
      const { ahead, due } = before(waiting, paymentId, nowMs);
      // Those ahead who should be back by now keep their turn; who is not due yet does not block.
      if (inside + due < perApplication) {
        waiting.delete(paymentId);
        return enter(application);
      }
      const turnMs = ((ahead + 1) * heldMs) / perApplication;
      const comeBackInMs = Math.ceil(Math.min(Math.max(turnMs, shortestWaitMs), longestWaitMs));
      waiting.set(paymentId, nowMs + comeBackInMs);
      return { entered: false, comeBackInMs };
    },
  };
};
export type DeliveryPlaces = ReturnType<typeof createDeliveryPlaces>;

/** How many have waited longer than this one, and how many of them should be back by now. */
const before = (waiting: Map<string, number>, paymentId: string, nowMs: number) => {
  const count = { ahead: 0, due: 0 };
  for (const [id, backMs] of waiting) {
    if (id === paymentId) break;
    if (backMs < nowMs - forgetAfterMs) waiting.delete(id);
    else {
      count.ahead += 1;
      if (backMs <= nowMs) count.due += 1;
    }
  }
  return count;
};
