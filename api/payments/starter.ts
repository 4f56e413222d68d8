import { AsyncResource } from 'node:async_hooks';
import type { WorkflowStart } from '../../contract/payment.ts';
import type { OutboxEntry, WorkflowOutbox } from '../../postgres/payments/workflow-outbox.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';

export interface Deps {
  workflows: Pick<WorkflowCalls, 'start'>;
  outbox: Pick<WorkflowOutbox, 'delete'>;
  logger: Pick<Logger, 'warn'>;
}

const inFlightMax = 100;
const waitingMax = 1_000;
const drainMs = 5_000;
const deleteEveryMs = 200;

/**
 * Starts workflows after the create has been answered. A payment whose start fails, or that finds the
 * queue full, keeps its outbox row, and the sweeper starts it.
 */
export const createStarter = ({ workflows, outbox, logger }: Deps) => {
  const waiting: (() => void)[] = [];
  const inFlight = new Map<string, Promise<boolean>>();
  // Started, but the outbox row is not deleted yet.
  const started = new Set<string>();
  let deletion: NodeJS.Timeout | undefined;

  const deleteStarted = async () => {
    clearTimeout(deletion);
    deletion = undefined;
    const ids = [...started];
    // A remaining row is harmless: the sweeper's start does nothing, and then it deletes the row.
    if (ids.length > 0) await outbox.delete(ids).catch(() => {});
    for (const id of ids) started.delete(id);
  };

  /** @returns whether the workflow runs or has run */
  const startOne = async (start: WorkflowStart): Promise<boolean> => {
    try {
      await workflows.start(start);
    } catch (error) {
      logger.warn(
        { payment_id: start.id, err: error },
        'Could not start the workflow; the sweeper will retry',
      );
      return false;
    }
    started.add(start.id);
    deletion ??= setTimeout(() => void deleteStarted(), deleteEveryMs);
    return true;
  };

  const run = async (start: WorkflowStart): Promise<void> => {
    const starting = startOne(start);
    inFlight.set(start.id, starting);
    await starting;
    inFlight.delete(start.id);
    waiting.shift()?.();
  };

  /** Keeps the log context of the current request for a start that begins later. */
  const runLater = (start: WorkflowStart) => AsyncResource.bind(() => void run(start));

  return {
    start(start: WorkflowStart): void {
      if (inFlight.size < inFlightMax) void run(start);
      else if (waiting.length < waitingMax) waiting.push(runLater(start));
    },

    /**
     * For a payer who waits at the checkout: resolves when the start has succeeded or failed. The workflow
     * belongs to the trace of the create request, not to that of the payer.
     */
    async startNow(entry: OutboxEntry): Promise<void> {
      // A second start would do nothing and cost Temporal as much as the first.
      if (started.has(entry.id) || (await inFlight.get(entry.id))) return;
      await run(entry);
    },

    /** Waits for the starts in flight, so that a graceful stop leaves little to the sweeper. */
    async drain(): Promise<void> {
      waiting.length = 0;
      for (const until = Date.now() + drainMs; inFlight.size > 0 && Date.now() < until;)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await deleteStarted();
    },
  };
};
export type Starter = ReturnType<typeof createStarter>;
