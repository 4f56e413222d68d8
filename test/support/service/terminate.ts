import type { Client } from '@temporalio/client';
import { until } from '../until.ts';

/** Terminates a workflow, and waits until Temporal's list, which lags behind, shows it as closed. */
export const terminate = async ({ workflow }: Client, workflowId: string): Promise<void> => {
  await workflow.getHandle(workflowId).terminate('a test');
  const query = `ExecutionStatus = 'Running' AND WorkflowId = '${workflowId}'`;
  await until(
    'it is listed as closed',
    async () => (await workflow.list({ query })[Symbol.asyncIterator]().next()).done,
  );
};
