import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import { type BareActivities, deliveryQueueOf } from './activities.ts';

const { open, verify } = proxyActivities<BareActivities>({ startToCloseTimeout: '30s' });

/** The least that Temporal does for three activities. */
export async function bare(): Promise<void> {
  const { deliver } = proxyActivities<BareActivities>({
    taskQueue: deliveryQueueOf(workflowInfo().taskQueue),
    startToCloseTimeout: '20s',
  });
  await open();
  await verify();
  await deliver();
}
