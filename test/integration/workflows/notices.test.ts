import { tsToMs } from '@temporalio/common/lib/time.js';
import { expect, it } from 'vitest';
import { ensureNotices } from '../../../temporal/notices.ts';
import { noticesQueue } from '../../../temporal/messages.ts';
import { startScriptedWorker } from '../../support/service/scripted-worker.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const worker = await forFile(startScriptedWorker([]));

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
