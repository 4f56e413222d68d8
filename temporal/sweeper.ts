import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import {
  type noticesWorkflow,
  paymentsQueue,
  sweeperWorkflow,
  type Workflows,
} from './messages.ts';

export const sweeperWorkflowId = 'sweeper';

const deadlineMs = 5_000;

/**
 * Starts the one sweeper of the namespace unless it runs, also if it was terminated. Every worker
 * process calls this at its start and once a minute.
 */
export const ensureSweeper = (client: Client): Promise<void> =>
  ensureSingle(client, sweeperWorkflow, {
    workflowId: sweeperWorkflowId,
    staticSummary: 'Finds and repairs what was lost between Postgres and Temporal',
    staticDetails:
      'Its one activity runs every 30 seconds and never completes. To pause or resume it, pause or unpause the activity `sweep`.',
  });

/** Starts a workflow of which a namespace has one, unless it runs. */
export const ensureSingle = async (
  client: Client,
  workflow: typeof sweeperWorkflow | typeof noticesWorkflow,
  texts: { workflowId: string; staticSummary: string; staticDetails: string },
): Promise<void> => {
  await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflow.start<Workflows['sweeper']>(workflow, {
      taskQueue: paymentsQueue,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [],
      ...texts,
    }),
  );
};

/** When the sweeper's activity last reported; null if no worker runs it. Rejects while Temporal is unavailable. */
export const readLastHeartbeat = async (client: Client): Promise<Date | null> => {
  try {
    const { raw } = await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.getHandle(sweeperWorkflowId).describe(),
    );
    const seconds = raw.pendingActivities?.[0]?.lastHeartbeatTime?.seconds;
    return seconds === undefined || seconds === null ? null : new Date(Number(seconds) * 1000);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
};
