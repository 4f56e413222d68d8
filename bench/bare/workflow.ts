import { condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import { verifyUpdate } from '../../temporal/messages.ts';
import type { BareActivities, PostInput } from './activities.ts';
import { bareDeliveryQueue } from './queues.ts';

const { open, settle } = proxyActivities<BareActivities>({ startToCloseTimeout: '30s' });
const { deliver } = proxyActivities<BareActivities>({
  taskQueue: bareDeliveryQueue,
  startToCloseTimeout: '20s',
});
const { post } = proxyActivities<BareActivities>({
  taskQueue: bareDeliveryQueue,
  startToCloseTimeout: '20s',
  retry: { maximumAttempts: 1 },
});

/** What the engine takes for three activities, whatever they do. */
export async function bare(): Promise<void> {
  await open();
  await settle();
  await deliver();
}

/** The same three, with a payer who is waited for under a timer and comes back by an update. */
export async function shaped(): Promise<void> {
  let isSettled = false;
  setHandler(defineUpdate(verifyUpdate), async () => {
    await settle();
    isSettled = true;
  });
  await open();
  await condition(() => isSettled, '30m');
  await deliver();
}

/** One delivery; its activity takes over the priority that the workflow was started with. */
export async function delivery(input: PostInput): Promise<void> {
  await post(input);
}
export type BareDelivery = typeof delivery;
