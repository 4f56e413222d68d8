import { CancellationScope, continueAsNew } from '@temporalio/workflow';
import { webhookExhausted } from '../temporal/failures.ts';
import type { EventInput } from '../temporal/messages.ts';
import { deliver, deliveryContext } from './delivery.ts';
import { createDetails } from './details.ts';
import { createSignals } from './signals.ts';

/**
 * Delivers one event of a dispute or of a link. The sweeper looks after both, so nothing else of them has a workflow.
 * @throws ApplicationFailure WebhookExhausted after six attempts without success
 */
export async function event(input: EventInput): Promise<void> {
  // A cancel request from the Temporal UI must not stop a delivery.
  await CancellationScope.nonCancellable(() => run(input));
}

const run = async ({ id, eventId }: EventInput): Promise<void> => {
  const result = await deliver(
    { id, eventId },
    deliveryContext({
      pending: createSignals().pending,
      say: createDetails(),
      continueInNewRun: () => continueAsNew<typeof event>({ id, eventId }),
    }),
  );
  if (result === 'exhausted') throw webhookExhausted(`The event ${eventId} was not accepted`);
};
