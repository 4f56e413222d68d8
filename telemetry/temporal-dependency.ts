import type { Client } from '@temporalio/client';
import type { Dependency } from './port.ts';

/** Longer than anybody waits for it: a slow answer that comes is an answer. */
const askMs = 5_000;

/** Temporal, asked with a deadline: a call without one may never end, and then it is never asked again. */
export const temporalDependency = (
  client: Pick<Client, 'withDeadline' | 'workflowService'>,
  { needed }: Pick<Dependency, 'needed'>,
): Dependency => ({
  needed,
  ask: () =>
    client.withDeadline(Date.now() + askMs, () => client.workflowService.getSystemInfo({})),
});
