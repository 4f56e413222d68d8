import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

/** Lets a server skip time. For `npm start` and tests, never for production. */
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

/** Says how the clock of one workflow runs. */
export const setWorkflowClock = (
  client: Client,
  workflowId: string,
  timeSkippingConfig: TimeSkippingConfig,
) =>
  client.workflowService.updateWorkflowExecutionOptions({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    workflowExecutionOptions: { timeSkippingConfig },
    updateMask: { paths: ['time_skipping_config'] },
  });

/** Advances the workflow's clock by exactly this many milliseconds. Afterwards it runs at normal speed again. */
export const skipWorkflowTime = async (
  client: Client,
  workflowId: string,
  ms: number,
): Promise<void> => {
  const id = randomUUID();
  await setWorkflowClock(client, workflowId, {
    enabled: true,
    fastForwardConfig: { id, duration: msToTs(ms) },
  });
  await client.workflowService.pollWorkflowExecutionTimeSkipping({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    fastForwardId: id,
  });
};
