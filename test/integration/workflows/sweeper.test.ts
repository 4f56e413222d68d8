import { tsToMs } from '@temporalio/common/lib/time.js';
import { describe, expect, it } from 'vitest';
import { createSweepActivity } from '../../../activities/sweep.ts';
import { ensureNotices } from '../../../temporal/notices.ts';
import { noticesQueue } from '../../../temporal/messages.ts';
import { ensureSweeper, sweeperWorkflowId } from '../../../temporal/sweeper.ts';
import { countEvents, startScriptedWorker } from '../../support/service/scripted-worker.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { pendingSweep, sweepDetails } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

let sweeps = 0;
let problem: Error | undefined;
const noRows = async () => 0;
const sweeperTasks = {
  async startOutboxWorkflows() {
    sweeps += 1;
    return sweeps;
  },
  inquireAtGateways: noRows,
  async healPayments() {
    if (problem) throw problem;
    return 0;
  },
  wakePostponedDeliveries: noRows,
  deleteExpiredIdempotencyKeys: noRows,
  eraseOldPayers: noRows,
  lookAtDisputes: noRows,
  lookAtPayouts: noRows,
  endLinks: noRows,
  watchReceivers: noRows,
  renewRefundTokens: noRows,
};
const activities = createSweepActivity({ sweeperTasks });
const worker = await forFile(startScriptedWorker([], activities));
await ensureSweeper(worker.client);

const sweeper = () => worker.client.workflow.getHandle(sweeperWorkflowId);

describe('the sweeper workflow', () => {
  it('shows the counts of the last sweep, and waits 30 seconds for the next one', async () => {
    const sweep = await until('the first sweep has ended', async () => {
      const pending = await pendingSweep(worker.client);
      return pending?.lastFailure && pending;
    });
    const { startedAt, ...counts } = sweepDetails(sweep);
    const none = Object.fromEntries(Object.keys(sweeperTasks).map((task) => [task, 0]));
    expect(counts).toEqual({ ...none, startOutboxWorkflows: 1 });
    expect(sweep.lastFailure?.applicationFailureInfo?.type).toBe('SweepCompleted');
    const waitMs = tsToMs(sweep.nextAttemptScheduleTime) - Date.parse(String(startedAt));
    // From the end of the sweep, which takes a moment on a busy machine.
    expect(waitMs).toBeGreaterThanOrEqual(29_900);
    expect(waitMs).toBeLessThan(60_000);
  });

  it('sweeps again and again in one run, without an event in its history', async () => {
    await ensureSweeper(worker.client);
    const { runId, historyLength } = await sweeper().describe();
    const before = sweeps;
    await skipAllTime(worker.client, sweeperWorkflowId);
    await until('it sweeps', () => sweeps >= before + 3);
    const now = await sweeper().describe();
    expect(now.runId).toBe(runId);
    // Skipping time itself writes events.
    expect(await countEvents(sweeper(), 'activityTaskScheduledEventAttributes')).toBe(1);
    expect(historyLength).toBeLessThanOrEqual(6);
    const { count } = await worker.client.workflow.count(
      "WorkflowType = 'sweeper' AND ExecutionStatus != 'Running'",
    );
    expect(count).toBe(0);
  });

  it('shows a task that fails, and goes on with the next sweep', async () => {
    problem = new Error('Postgres is away');
    const failed = await until('the failure is shown', async () => {
      const sweep = await pendingSweep(worker.client);
      return sweep?.lastFailure?.applicationFailureInfo?.type === 'SweepFailed' && sweep;
    });
    expect(failed.lastFailure?.message).toBe('healPayments: Error: Postgres is away');
    expect(sweepDetails(failed)).toMatchObject({ healPayments: 'failed', inquireAtGateways: 0 });
    problem = undefined;
    await until('a sweep succeeds', async () => {
      const sweep = await pendingSweep(worker.client);
      return sweep?.lastFailure?.applicationFailureInfo?.type === 'SweepCompleted';
    });
  });
});

it('one workflow sends all mails, from a task queue that holds no slot of a delivery', async () => {
  await ensureNotices(worker.client);
  await ensureNotices(worker.client);
  const handle = worker.client.workflow.getHandle('notices');
  const scheduled = await until('its activity is scheduled', async () => {
    const { events } = await handle.fetchHistory();
    return events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? [])[0];
  });
  expect(scheduled.taskQueue?.name).toBe(noticesQueue);
  expect(['payments', 'webhooks']).not.toContain(noticesQueue);
  expect(tsToMs(scheduled.startToCloseTimeout)).toBe(30_000);
  expect(scheduled.retryPolicy?.maximumAttempts).toBe(0);
  const { count } = await worker.client.workflow.count("WorkflowType = 'notices'");
  expect(count).toBe(1);
});
