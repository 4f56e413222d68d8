import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './activities.ts';
import { bareDeliveryQueue } from './queues.ts';

const { open, settle } = proxyActivities<BareActivities>({ startToCloseTimeout: '30s' });
const { deliver } = proxyActivities<BareActivities>({
  taskQueue: bareDeliveryQueue,
  startToCloseTimeout: '20s',
});

/** What the engine takes for three activities, whatever they do. */
export async function bare(): Promise<void> {
  await open();
  await settle();
  await deliver();
}
