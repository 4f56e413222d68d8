import { CancellationScope } from '@temporalio/workflow';
import type { ReplayInput, ReplayResult } from '../temporal/messages.ts';
import { replayEvent } from './activities.ts';

/**
 * Begins another round of an event's delivery, which the payment's own workflow then carries out. The API
 * starts it, because the API itself may not change a delivery.
 */
export async function replay(input: ReplayInput): Promise<ReplayResult> {
  return CancellationScope.nonCancellable(() => replayEvent(input));
}
