import { setTimeout as sleep } from 'node:timers/promises';
import { heartbeat } from '@temporalio/activity';
import { sweepCompleted, sweepFailed } from '../temporal/failures.ts';
import type { SweeperTasks } from './sweeper-tasks/index.ts';

export interface Deps {
  sweeperTasks: SweeperTasks;
  /** Less than the activity's timeout of 25 s, so that the failure names the task. */
  taskLimitMs?: number;
}

const intervalMs = 30_000;

/**
 * The one activity of the sweeper workflow. It runs every task once, side by side, and then always
 * fails: Temporal's retry is the next sweep, and retries add nothing to the workflow's history. Source:
 * "infrequent polling" in Temporal's documentation.
 */
export const createSweepActivity = ({ sweeperTasks, taskLimitMs = 24_000 }: Deps) => {
  const running = new Map<string, Promise<number>>();

  /** Runs a task unless its run of an earlier sweep is still going on; then it waits for that one. */
  const runTask = (name: string, task: () => Promise<number>): Promise<number> => {
    const current = running.get(name) ?? task().finally(() => running.delete(name));
    running.set(name, current);
    return withinLimit(current, taskLimitMs);
  };

  return {
    /** @throws ApplicationFailure SweepCompleted, or SweepFailed if a task failed */
    async sweep(): Promise<never> {
      const startedAt = new Date().toISOString();
      // Not by a clock that can be set: the next sweep would be as late as that clock was put back.
      const began = performance.now();
      const names = Object.keys(sweeperTasks) as (keyof SweeperTasks)[]; // Its own keys.
      const results = await Promise.allSettled(
        names.map((name) => runTask(name, sweeperTasks[name])),
      );

      const details: Record<string, unknown> = { startedAt };
      const problems: string[] = [];
      for (const [index, name] of names.entries()) {
        const result = results[index];
        details[name] = result?.status === 'fulfilled' ? result.value : 'failed';
        if (result?.status === 'rejected') problems.push(`${name}: ${String(result.reason)}`);
      }
      // The Temporal UI shows them until the next sweep ends.
      heartbeat(details);
      const retryAfterMs = Math.max(Math.round(began + intervalMs - performance.now()), 1_000);
      throw problems.length > 0
        ? sweepFailed(problems.join('; '), retryAfterMs)
        : sweepCompleted(retryAfterMs);
    },
  };
};

const withinLimit = async <T>(work: Promise<T>, limitMs: number): Promise<T> => {
  const limit = new AbortController();
  const timeout = sleep(limitMs, undefined, { signal: limit.signal }).then((): never => {
    throw new Error(`It still runs after ${limitMs} ms, and the next sweep waits for it`);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    timeout.catch(() => {}); // Aborted below.
    limit.abort();
  }
};
