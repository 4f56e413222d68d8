import { AsyncResource } from 'node:async_hooks';
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { WorkflowStart } from '../../contract/payment.ts';
import type { WorkflowOutbox, OutboxEntry } from '../../postgres/workflow-outbox.ts';
import type { Logger } from '../../telemetry/log.ts';
import { withinTrace } from '../../telemetry/log.ts';
import { paymentWorkflow, paymentStartOptions } from '../../temporal/messages.ts';
import type { payment } from '../../workflows/payment.ts';

export interface Deps {
  client: Client;
  outbox: Pick<WorkflowOutbox, 'delete'>;
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
export const createStarter = ({ client, outbox, logger }: Deps) => {
  const waiting: (() => void)[] = [];
  const inFlight = new Map<string, Promise<boolean>>();
  // Started, and the `unstarted` row still to be deleted.
  const started = new Set<string>();
  let deletion: NodeJS.Timeout | undefined;

  const deleteStarted = async () => {
    clearTimeout(deletion);
    deletion = undefined;
    const ids = [...started];
    // A row that stays is harmless: the sweep starts again, which changes nothing, and deletes it.
    if (ids.length > 0) await outbox.delete(ids).catch(() => {});
    for (const id of ids) started.delete(id);
  };

  /** @returns whether its workflow runs, or has run */
  const startOne = async (facts: WorkflowStart): Promise<boolean> => {
    try {
      await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.start<typeof payment>(paymentWorkflow, paymentStartOptions(facts)),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        logger.warn({ payment_id: facts.id, err: error }, 'Left to the sweep: no workflow yet');
        return false;
      }
    }
    started.add(facts.id);
    deletion ??= setTimeout(() => void deleteStarted(), deleteEveryMs);
    return true;
  };

  const run = async (facts: WorkflowStart): Promise<void> => {
    const start = startOne(facts);
    inFlight.set(facts.id, start);
    await start;
    inFlight.delete(facts.id);
    waiting.shift()?.();
  };

  /** Its log lines are those of the request that wanted it, also when another one's end begins it. */
  const inContext = (facts: WorkflowStart) => AsyncResource.bind(() => void run(facts));

  return {
    start(facts: WorkflowStart): void {
      if (inFlight.size < inFlightMax) void run(facts);
      else if (waiting.length < waitingMax) waiting.push(inContext(facts));
    },

    /**
     * For a payer who waits at the door: resolves when the start has succeeded or failed. The workflow
     * belongs to the trace of the create, not to the payer's.
     */
    async startNow(facts: OutboxEntry): Promise<void> {
      // A second start would change nothing, and cost the engine as much as the first.
      if (started.has(facts.id) || (await inFlight.get(facts.id))) return;
      await withinTrace(facts.traceId, () => run(facts));
    },

    /** Waits for the starts in flight, so that a graceful stop leaves little to the sweep. */
    async drain(): Promise<void> {
      waiting.length = 0;
      for (const until = Date.now() + deadlineMs; inFlight.size > 0 && Date.now() < until;)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await deleteStarted();
    },
  };
};
export type Starter = ReturnType<typeof createStarter>;
