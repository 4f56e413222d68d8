import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

/** Lets a test server skip time. Never for production. */
export const timeSkipping = [
  'frontend.WorkflowTimeSkippingEnabled',
  'system.workflowTimeSkippingEnabled',
].flatMap((key) => ['--dynamic-config-value', `${key}=true`]);

type TimeSkippingConfig = NonNullable<
  NonNullable<
    Parameters<
      Client['workflowService']['updateWorkflowExecutionOptions']
    >[0]['workflowExecutionOptions']
  >['timeSkippingConfig']
>;

const configure = (client: Client, workflowId: string, timeSkippingConfig: TimeSkippingConfig) =>
  client.workflowService.updateWorkflowExecutionOptions({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    workflowExecutionOptions: { timeSkippingConfig },
    updateMask: { paths: ['time_skipping_config'] },
  });

/** From now on the workflow's clock jumps to the next timer or retry. */
export const skipAllTime = async (client: Client, workflowId: string): Promise<void> => {
  await configure(client, workflowId, { enabled: true });
};

/** Advances the workflow's clock by exactly this much. Afterwards it runs at normal speed again. */
export const skipTime = async (
  client: Client,
  workflowId: string,
  duration: '2m' | '14h',
): Promise<void> => {
  const id = randomUUID();
  await configure(client, workflowId, {
    enabled: true,
    fastForwardConfig: { id, duration: msToTs(duration) },
  });
  await client.workflowService.pollWorkflowExecutionTimeSkipping({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    fastForwardId: id,
  });
};
