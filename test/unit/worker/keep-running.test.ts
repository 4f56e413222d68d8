import { type Client, ScheduleAlreadyRunning } from '@temporalio/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keepRunning } from '../../../worker/keep-running.ts';

/** A keeper whose starts of the sweeper give these results in turn. */
const aKeeper = (...results: ('started' | Error)[]) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const warnings: unknown[] = [];
  let starts = 0;
  let schedules = 0;
  const client = {
    withDeadline: (_: number, call: () => Promise<unknown>) => call(),
    workflow: {
      async start() {
        starts += 1;
        const result = results.shift();
        if (result instanceof Error) throw result;
      },
    },
    schedule: {
      async create() {
        schedules += 1;
        if (schedules > 1) throw new ScheduleAlreadyRunning('It is there', 'compare-accounts');
      },
    },
  };
  const keeper = keepRunning({
    sendsMail: false,
    client: client as unknown as Client, // It uses no more of a client.
    logger: { warn: (_: unknown, message?: string) => void warnings.push(message) },
  });
  onTestFinished(() => {
    keeper.stop();
    vi.useRealTimers();
  });
  return { keeper, warnings, starts: () => starts, schedules: () => schedules };
};

it('starts the sweeper and the schedule at once and once a minute, also after a failed start', async () => {
  const { keeper, warnings, starts, schedules } = aKeeper('started', new Error('away'), 'started');
  await keeper.start();
  expect(starts()).toBe(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(warnings).toEqual([
    'Could not start the sweeper and the schedule; trying again in a minute',
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([starts(), schedules()]).toEqual([3, 2]);
  keeper.stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(starts()).toBe(3);
});

it('rejects if the first start fails', async () => {
  const { keeper } = aKeeper(new Error('The namespace does not exist'));
  await expect(keeper.start()).rejects.toThrow('The namespace does not exist');
});
