import { proxyActivities } from '@temporalio/workflow';
import { bareDeliveryQueue, type BareActivities } from './activities.ts';

const { open, verify } = proxyActivities<BareActivities>({ startToCloseTimeout: '30s' });
const { deliver } = proxyActivities<BareActivities>({
  taskQueue: bareDeliveryQueue,
  startToCloseTimeout: '20s',
});

/** The least that Temporal does for three activities. */
export async function bare(): Promise<void> {
  await open();
  await verify();
  await deliver();
}
