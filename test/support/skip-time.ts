import { randomUUID } from 'node:crypto';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { Client } from '@temporalio/client';

/** From now on this workflow waits for nothing: its clock jumps to whatever is due next. */
export const skipAllTime = async (client: Client, workflowId: string): Promise<void> => {
  await client.workflowService.updateWorkflowExecutionOptions({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    workflowExecutionOptions: { timeSkippingConfig: { enabled: true } },
    updateMask: { paths: ['time_skipping_config'] },
  });
};

/** Lets exactly this much of the workflow's time pass. */
export const skipTime = async (client: Client, workflowId: string, ms: number): Promise<void> => {
  const id = randomUUID();
  const of = { namespace: client.options.namespace, workflowExecution: { workflowId } };
  await client.workflowService.updateWorkflowExecutionOptions({
    ...of,
    workflowExecutionOptions: {
      timeSkippingConfig: { enabled: true, fastForwardConfig: { id, duration: msToTs(ms) } },
    },
    updateMask: { paths: ['time_skipping_config'] },
  });
  await client.workflowService.pollWorkflowExecutionTimeSkipping({ ...of, fastForwardId: id });
};
