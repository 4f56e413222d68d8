import type { Client } from '@temporalio/client';
import { tsToDate } from '@temporalio/common/lib/time.js';
import type { ActivityStartedAt } from '../activities/delivery.ts';

const deadlineMs = 5_000;

/** Asks the engine what it has on record of the try; activities are not told. */
export const createActivityStartedAt =
  (client: Client): ActivityStartedAt =>
  async ({ workflowExecution, activityId, attempt }) => {
    const { workflowId = '', runId } = workflowExecution ?? {};
    const { raw } = await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.getHandle(workflowId, runId).describe(),
    );
    const pending = raw.pendingActivities?.find((one) => one.activityId === activityId);
    if (!pending?.lastStartedTime || pending.attempt !== attempt)
      throw new Error(`The engine has given up try ${attempt} of activity ${activityId}`);
    return tsToDate(pending.lastStartedTime);
  };
