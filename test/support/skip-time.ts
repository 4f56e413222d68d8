import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

/** What lets a test server skip time; never for production. */
export const timeSkipping = [
  'frontend.WorkflowTimeSkippingEnabled',
  'system.workflowTimeSkippingEnabled',
].flatMap((key) => ['--dynamic-config-value', `${key}=true`]);

type Skipping = NonNullable<
  NonNullable<
    Parameters<
      Client['workflowService']['updateWorkflowExecutionOptions']
    >[0]['workflowExecutionOptions']
  >['timeSkippingConfig']
>;

const skip = (client: Client, workflowId: string, timeSkippingConfig: Skipping) =>
  client.workflowService.updateWorkflowExecutionOptions({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    workflowExecutionOptions: { timeSkippingConfig },
    updateMask: { paths: ['time_skipping_config'] },
  });

/** From now on this workflow waits for nothing: its clock jumps to whatever is due next. */
export const skipAllTime = async (client: Client, workflowId: string): Promise<void> => {
  await skip(client, workflowId, { enabled: true });
};

/** This workflow's clock moves on by exactly so much, then time passes as it does. */
export const skipTime = async (
  client: Client,
  workflowId: string,
  duration: '2m' | '14h',
): Promise<void> => {
  const id = randomUUID();
  await skip(client, workflowId, {
    enabled: true,
    fastForwardConfig: { id, duration: msToTs(duration) },
  });
  await client.workflowService.pollWorkflowExecutionTimeSkipping({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    fastForwardId: id,
  });
};
