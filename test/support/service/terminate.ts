import type { Client } from '@temporalio/client';
import { until } from '../until.ts';

/** Waits until Temporal's list, which lags behind, shows a workflow that has ended as closed. */
export const untilListedAsClosed = async (
  { workflow }: Client,
  workflowId: string,
): Promise<void> => {
  const query = `ExecutionStatus = 'Running' AND WorkflowId = '${workflowId}'`;
  await until(
    'it is listed as closed',
    async () => (await workflow.list({ query })[Symbol.asyncIterator]().next()).done,
  );
};

/** Terminates a workflow, and waits until Temporal's list shows it as closed. */
export const terminate = async (client: Client, workflowId: string): Promise<void> => {
  await client.workflow.getHandle(workflowId).terminate('a test');
  await untilListedAsClosed(client, workflowId);
};
