import type { Client } from '@temporalio/client';
import { setWorkflowClock, skipWorkflowTime } from '../../../temporal/skip-time.ts';

/** From now on the workflow's clock jumps to the next timer or retry. */
export const skipAllTime = async (client: Client, workflowId: string): Promise<void> => {
  await setWorkflowClock(client, workflowId, { enabled: true });
};

const durations = { '2m': 2 * 60_000, '14h': 14 * 3_600_000 } as const;

/** Advances the workflow's clock by exactly this much. Afterwards it runs at normal speed again. */
export const skipTime = (
  client: Client,
  workflowId: string,
  duration: keyof typeof durations,
): Promise<void> => skipWorkflowTime(client, workflowId, durations[duration]);
