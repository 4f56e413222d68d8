import { setTimeout as sleep } from 'node:timers/promises';
import type { PostponedDelivery, SweeperQueries } from '../../postgres/payments/sweeper.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import type { Log } from '../log.ts';
import { forEachOrThrow, taskTimeMs } from './limited.ts';

export interface Deps {
  sweeperQueries: Pick<
    SweeperQueries,
    'listPostponedApplications' | 'listPostponed' | 'countPostponed'
  >;
  workflows: Pick<WorkflowCalls, 'recheck'>;
  /** Waits for so many milliseconds. */
  pause?: (ms: number) => Promise<void>;
  logger: Log;
}

/** The deliveries of an application that the last sweep woke. */
interface Batch {
  size: number;
  deliveries: readonly PostponedDelivery[];
}

const firstSize = 100;
/** A dead receiver gets this many tries in a sweep, beside those that wait in the workers' lines. */
const leastSize = 10;
const largestSize = 500;
/** All applications together: more at once would delay the payments of others in Temporal. */
const pauseMs = 30;

/**
 * Wakes postponed deliveries. A dead receiver's backlog may be long, and trying all of it again and again
 * would use up the workers and Temporal. So each application gets a batch in a sweep: it doubles while the
 * receiver keeps up, and shrinks while most of the last batch is still waiting.
 */
export const createPostponedDeliveryTask = ({
  sweeperQueries,
  workflows,
  pause = sleep,
  logger,
}: Deps) => {
  let last = new Map<string, Batch>();

  const nextSize = async ({ size, deliveries }: Batch): Promise<number> => {
    const ids = deliveries.map(({ eventId }) => eventId);
    const waiting = (await sweeperQueries.countPostponed(ids)) / Math.max(ids.length, 1);
    if (waiting > 0.5) return Math.max(leastSize, Math.floor(size / 2));
    return waiting <= 0.1 ? Math.min(largestSize, size * 2) : size;
  };

  return {
    /** @returns how many deliveries it woke */
    async wakePostponedDeliveries(): Promise<number> {
      const until = performance.now() + taskTimeMs;
      const batches = new Map<string, Batch>();
      for (const application of await sweeperQueries.listPostponedApplications()) {
        const before = last.get(application);
        const size = before ? await nextSize(before) : firstSize;
        const woken = await sweeperQueries.listPostponed(application, size);
        batches.set(application, { size, deliveries: woken });
      }
      const tried = new Set<string>();
      const all = inTurns([...batches.values()].map(({ deliveries }) => deliveries));
      await forEachOrThrow(all, { atOnce: 1, until, logger }, async (delivery) => {
        tried.add(delivery.eventId);
        await workflows.recheck(delivery, { unlessEnded: true });
        await pause(pauseMs);
      });
      // Without applications that have caught up, and without deliveries for which the time was too short.
      last = new Map(
        [...batches].map(([application, { size, deliveries }]) => [
          application,
          { size, deliveries: deliveries.filter(({ eventId }) => tried.has(eventId)) },
        ]),
      );
      return tried.size;
    },
  };
};

/** The first of each list, then the second of each, and so on. */
const inTurns = <T>(lists: readonly (readonly T[])[]): T[] => {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  ).flat();
};
