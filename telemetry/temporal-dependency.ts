import type { Client } from '@temporalio/client';
import type { Dependency } from './port.ts';

/** Longer than the limit of a readiness check, so that a slow response still counts. */
const deadlineMs = 5_000;

/** Checks Temporal with a deadline: without one, a call that never ends would block all later checks. */
export const temporalDependency = (
  client: Pick<Client, 'withDeadline' | 'workflowService'>,
  { required }: Pick<Dependency, 'required'>,
): Dependency => ({
  required,
  check: () =>
    client.withDeadline(Date.now() + deadlineMs, () => client.workflowService.getSystemInfo({})),
});
