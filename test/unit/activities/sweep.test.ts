import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSweepActivity } from '../../../activities/sweep.ts';
import type { SweeperTasks } from '../../../activities/sweeper-tasks/index.ts';

/** What each task has done. */
const done = {
  startOutboxWorkflows: 1,
  inquireAtGateways: 2,
  healPayments: 3,
  wakePostponedDeliveries: 5,
  deleteExpiredIdempotencyKeys: 4,
  eraseOldPayers: 6,
  lookAtDisputes: 8,
  lookAtPayouts: 9,
  endLinks: 2,
  watchReceivers: 7,
  renewRefundTokens: 10,
} satisfies Record<keyof SweeperTasks, number>;
const doingAll = Object.fromEntries(
  Object.entries(done).map(([task, count]) => [task, async () => count]),
) as unknown as SweeperTasks;

/** Runs one sweep and returns its failure and its heartbeat details. */
const sweepWith = (tasks: Partial<SweeperTasks>, limits: { taskLimitMs?: number } = {}) => {
  const { sweep } = createSweepActivity({
    sweeperTasks: { ...doingAll, ...tasks },
    ...limits,
  });
  return async () => {
    const environment = new MockActivityEnvironment();
    const heartbeats: unknown[] = [];
    environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
    const failure: unknown = await environment.run(sweep).catch((error: unknown) => error);
    return { failure, heartbeats };
  };
};

const useFakeClock = () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};

describe('a sweep', () => {
  it('runs every task and asks Temporal to retry 30 seconds after it started', async () => {
    useFakeClock();
    const startedAt = new Date().toISOString();
    const sweep = sweepWith({
      async healPayments() {
        vi.advanceTimersByTime(12_000);
        return 3;
      },
    });
    const { failure, heartbeats } = await sweep();
    expect(failure).toMatchObject({ type: 'SweepCompleted', nextRetryDelay: 18_000 });
    expect(heartbeats).toEqual([{ startedAt, ...done }]);
  });

  it('comes again within 30 seconds if the clock was set back meanwhile', async () => {
    useFakeClock();
    const sweep = sweepWith({
      async healPayments() {
        vi.setSystemTime(Date.now() - 7_200_000);
        return 3;
      },
    });
    const { failure } = await sweep();
    expect(failure).toMatchObject({ type: 'SweepCompleted', nextRetryDelay: 30_000 });
  });

  it('runs the other tasks if one fails, and names the failed one', async () => {
    const sweep = sweepWith({
      startOutboxWorkflows: () => Promise.reject(new Error('Postgres is away')),
    });
    const { failure, heartbeats } = await sweep();
    expect(failure).toMatchObject({
      type: 'SweepFailed',
      message: 'startOutboxWorkflows: Error: Postgres is away',
      nonRetryable: false,
    });
    expect(heartbeats).toMatchObject([{ startOutboxWorkflows: 'failed', healPayments: 3 }]);
  });

  it('ends if a task hangs, and the next sweep waits for that task instead of running it twice', async () => {
    let runs = 0;
    const { promise, resolve: finish } = Promise.withResolvers<number>();
    const sweep = sweepWith(
      {
        inquireAtGateways() {
          runs += 1;
          return runs === 1 ? promise : Promise.resolve(9);
        },
      },
      { taskLimitMs: 50 },
    );
    const { failure, heartbeats } = await sweep();
    expect(failure).toMatchObject({
      type: 'SweepFailed',
      message: expect.stringContaining('inquireAtGateways: Error: It still runs') as string,
    });
    expect(heartbeats).toMatchObject([{ inquireAtGateways: 'failed', healPayments: 3 }]);

    const second = sweep();
    finish(7);
    expect((await second).heartbeats).toMatchObject([{ inquireAtGateways: 7 }]);
    expect(runs).toBe(1);
    expect((await sweep()).heartbeats).toMatchObject([{ inquireAtGateways: 9 }]);
  });
});
