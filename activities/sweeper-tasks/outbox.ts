import type { WorkflowOutbox } from '../../postgres/payments/workflow-outbox.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import type { Log } from '../log.ts';
import { forEachLimited, taskTimeMs } from './limited.ts';

export interface Deps {
  outbox: Pick<WorkflowOutbox, 'list' | 'delete'>;
  workflows: Pick<WorkflowCalls, 'start'>;
  logger: Log;
}

const startsAtOnce = 50;
const batchSize = 500;
/** Younger payments are left to the API process that is starting them. */
const leastAge = '5 seconds';

/** Starts the workflows of outbox payments, which the API could not start. */
export const createOutboxTask = ({ outbox, workflows, logger }: Deps) => ({
  /** @returns how many workflows it started */
  async startOutboxWorkflows(): Promise<number> {
    const until = performance.now() + taskTimeMs;
    let count = 0;
    while (performance.now() < until) {
      const batch = await outbox.list({ limit: batchSize, age: leastAge });
      const started: string[] = [];
      const { failures } = await forEachLimited(
        batch,
        { atOnce: startsAtOnce, until, logger },
        async (entry) => {
          await workflows.start(entry);
          started.push(entry.id);
        },
      );
      await outbox.delete(started);
      count += started.length;
      if (count === 0 && failures[0]) throw failures[0].error;
      // The next batch begins with the failed payments. Without any success it would be the same batch.
      if (batch.length < batchSize || started.length === 0) break;
    }
    if (count > 0) logger.info({ started: count }, 'Started the workflows of outbox payments');
    return count;
  },
});
