import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { StartFacts } from '../contract/payment.ts';
import type { Unstarted } from '../postgres/unstarted.ts';
import type { Logger } from '../process.ts';
import { paymentWorkflow, startOf } from '../workflows/messages.ts';
import type { payment } from '../workflows/payment.ts';

export interface Deps {
  client: Client;
  unstarted: Pick<Unstarted, 'delete'>;
  logger: Pick<Logger, 'warn'>;
}

const inFlightMax = 100;
const waitingMax = 1_000;
const deadlineMs = 5_000;
const deleteEveryMs = 200;

/**
 * Starts workflows behind the answers: nobody waits for it, and nothing depends on it. What finds
 * no place here, or fails, keeps its `unstarted` row and is started by the sweep.
 */
export const createStarter = ({ client, unstarted, logger }: Deps) => {
  const waiting: StartFacts[] = [];
  const started: string[] = [];
  let inFlight = 0;
  let deletion: NodeJS.Timeout | undefined;

  const deleteStarted = async () => {
    clearTimeout(deletion);
    deletion = undefined;
    const ids = started.splice(0);
    // A row that stays is harmless: the sweep starts again, which changes nothing, and deletes it.
    if (ids.length > 0) await unstarted.delete(ids).catch(() => {});
  };

  const run = async (facts: StartFacts): Promise<void> => {
    inFlight += 1;
    try {
      await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.start<typeof payment>(paymentWorkflow, {
          ...startOf(facts),
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      );
      started.push(facts.id);
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) started.push(facts.id);
      else logger.warn({ payment_id: facts.id, err: error }, 'Left to the sweep: no workflow yet');
    } finally {
      inFlight -= 1;
    }
    deletion ??= setTimeout(() => void deleteStarted(), deleteEveryMs);
    const next = waiting.shift();
    if (next) void run(next);
  };

  return {
    start(facts: StartFacts): void {
      if (inFlight < inFlightMax) void run(facts);
      else if (waiting.length < waitingMax) waiting.push(facts);
    },

    /** For a payer who waits at the door: resolves when the start has succeeded or failed. */
    startNow: run,

    /** Waits for the starts in flight, so that a graceful stop leaves little to the sweep. */
    async drain(): Promise<void> {
      waiting.length = 0;
      for (const until = Date.now() + deadlineMs; inFlight > 0 && Date.now() < until;)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await deleteStarted();
    },
  };
};
export type Starter = ReturnType<typeof createStarter>;
