import type { Client } from '@temporalio/client';
import { tsToDate } from '@temporalio/common/lib/time.js';
import type { Info } from '@temporalio/activity';

const deadlineMs = 5_000;

/**
 * When Temporal handed out this attempt of an activity, by Temporal's clock.
 * @throws Error if Temporal no longer waits for the attempt
 */
export type ActivityStartedAt = (
  task: Pick<Info, 'workflowExecution' | 'activityId' | 'attempt'>,
) => Promise<Date>;

/** Reads Temporal's record of the attempt, because an activity's own context lacks its start time. */
export const createActivityStartedAt =
  (client: Client): ActivityStartedAt =>
  async ({ workflowExecution, activityId, attempt }) => {
    const { workflowId = '', runId } = workflowExecution ?? {};
    const { raw } = await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.getHandle(workflowId, runId).describe(),
    );
    const pending = raw.pendingActivities?.find((activity) => activity.activityId === activityId);
    if (!pending?.lastStartedTime || pending.attempt !== attempt)
      throw new Error(`Temporal no longer waits for attempt ${attempt} of activity ${activityId}`);
    return tsToDate(pending.lastStartedTime);
  };
