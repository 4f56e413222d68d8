import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { sweeperWorkflowId } from '../../../temporal/sweeper.ts';
import { until } from '../until.ts';

/** The sweeper's one activity, as Temporal describes it. Undefined while the sweeper does not run. */
export const pendingSweep = async (client: Client) => {
  const { raw } = await client.workflow.getHandle(sweeperWorkflowId).describe();
  return raw.pendingActivities?.[0];
};
type PendingSweep = NonNullable<Awaited<ReturnType<typeof pendingSweep>>>;

/** The counts of the last complete sweep. */
export const sweepDetails = ({ heartbeatDetails }: PendingSweep): Record<string, unknown> => {
  const [payload] = heartbeatDetails?.payloads ?? [];
  const text = Buffer.from(payload?.data ?? []).toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
};

/** Starts a sweep without waiting for the 30 seconds, and resolves when that sweep is complete. */
export const sweepNow = async (client: Client): Promise<void> => {
  const from = Date.now();
  let resetAt = 0;
  await until('a sweep starts now and is complete', async () => {
    const sweep = await pendingSweep(client);
    if (!sweep) return false;
    if (Date.parse(String(sweepDetails(sweep)['startedAt'])) >= from) return true;
    const isWaiting = sweep.nextAttemptScheduleTime !== null;
    if (isWaiting && Date.now() - resetAt > 1_000) {
      resetAt = Date.now();
      await client.workflowService.resetActivity({
        namespace: client.options.namespace,
        execution: { workflowId: sweeperWorkflowId },
        identity: `tests-${randomUUID()}`,
        id: 'sweep',
      });
    }
    return false;
  });
};
