import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './activities.ts';

const { open, settle, deliver } = proxyActivities<BareActivities>({ startToCloseTimeout: '30s' });

/** What the engine takes for three activities, whatever they do. */
export async function bare(): Promise<void> {
  await open();
  await settle();
  await deliver();
}
