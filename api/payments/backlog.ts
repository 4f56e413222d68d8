import { PaymentError } from '../../contract/errors.ts';
import type { WorkflowOutbox } from '../../postgres/workflow-outbox.ts';
import type { Logger } from '../../telemetry/log.ts';

const unstartedMax = 10_000;
const lookEveryMs = 5_000;

export interface Deps {
  outbox: Pick<WorkflowOutbox, 'count'>;
  logger: Pick<Logger, 'warn'>;
}

/** Refuses creates while too many payments have no workflow yet. */
export const createBacklog = ({ outbox, logger }: Deps) => {
  let full = false;
  const look = async () => {
    full = (await outbox.count(unstartedMax + 1)) > unstartedMax;
  };
  const timer = setInterval(() => {
    // Where Postgres is away creates fail by themselves, and the last look holds.
    look().catch((error: unknown) => logger.warn({ err: error }, 'The backlog was not looked at'));
  }, lookEveryMs);
  return {
    /** @throws PaymentError SERVICE_UNAVAILABLE */
    check(): void {
      if (full)
        throw new PaymentError(
          'SERVICE_UNAVAILABLE',
          'Too many payments are waiting to be started.',
        );
    },
    look,
    stop: () => clearInterval(timer),
  };
};
export type Backlog = ReturnType<typeof createBacklog>;
