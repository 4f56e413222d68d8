import type { LinkEnds } from '../postgres/links/ends.ts';
import type { WorkflowCalls } from '../temporal/workflow-calls.ts';
import type { Log } from './log.ts';
import { forEachOrThrow, taskTimeMs } from './sweeper-tasks/limited.ts';

export interface Deps {
  linkEnds: LinkEnds;
  workflows: Pick<WorkflowCalls, 'restart'>;
  now: () => Date;
  logger: Log;
}

const batchSize = 100;
const atOnce = 5;

/** Ends a link that was paid or has expired, and starts the delivery of its event. */
export const createEndLink =
  ({ linkEnds, workflows, now }: Pick<Deps, 'linkEnds' | 'workflows' | 'now'>) =>
  async (id: string): Promise<void> => {
    const end = await linkEnds.end(id, now());
    // The sweeper heals the delivery if the start fails.
    if (end) await workflows.restart(end).catch(() => {});
  };

/** Ends the links that payments have paid, or that nobody has paid in time. */
export const createLinkTask = (deps: Deps) => {
  const { linkEnds, logger } = deps;
  const endLink = createEndLink(deps);
  return {
    /** @returns how many it looked at */
    async endLinks(): Promise<number> {
      const ids = await linkEnds.listDue(batchSize);
      const limits = { atOnce, until: performance.now() + taskTimeMs, logger };
      await forEachOrThrow(
        ids.map((id) => ({ id })),
        limits,
        ({ id }) => endLink(id),
      );
      return ids.length;
    },
  };
};
