import { CancellationScope, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { ReplayManyInput } from '../temporal/messages.ts';
import { replaySome } from './activities.ts';

/** Replays the events of a time, at a bounded rate. Its record says how far it has come. */
export async function replayMany(input: ReplayManyInput): Promise<void> {
  // To stop it, the application sets a mark in the record.
  await CancellationScope.nonCancellable(async () => {
    while ((await replaySome(input)) === 'more')
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof replayMany>(input);
  });
}
