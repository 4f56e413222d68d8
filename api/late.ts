import type { Client } from '@temporalio/client';
import { lateStartOf, lateWorkflow } from '../workflows/messages.ts';
import type { late } from '../workflows/late.ts';

const longestMs = 5_000;

/**
 * Has somebody look for money that came after a payment's end without being paid, and give it back.
 * Resolves once a workflow has it. @throws ServiceError of the engine where it is away
 */
export const createLateStarter =
  ({ client }: { client: Client }) =>
  async (paymentId: string, withinMs = longestMs): Promise<void> => {
    await client.withDeadline(Date.now() + Math.min(withinMs, longestMs), () =>
      client.workflow.start<typeof late>(lateWorkflow, lateStartOf(paymentId)),
    );
  };
export type LateStarter = ReturnType<typeof createLateStarter>;
