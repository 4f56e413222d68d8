import type { Client } from '@temporalio/client';

/** What lets a test server skip time; never for production. */
export const timeSkipping = [
  'frontend.WorkflowTimeSkippingEnabled',
  'system.workflowTimeSkippingEnabled',
].flatMap((key) => ['--dynamic-config-value', `${key}=true`]);

/** From now on this workflow waits for nothing: its clock jumps to whatever is due next. */
export const skipAllTime = async (client: Client, workflowId: string): Promise<void> => {
  await client.workflowService.updateWorkflowExecutionOptions({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    workflowExecutionOptions: { timeSkippingConfig: { enabled: true } },
    updateMask: { paths: ['time_skipping_config'] },
  });
};
