import { PaymentError } from '../../contract/errors.ts';
import type { WorkflowOutbox } from '../../postgres/payments/workflow-outbox.ts';
import type { Logger } from '../../telemetry/log.ts';

const outboxMax = 10_000;
const checkIntervalMs = 5_000;

export interface Deps {
  outbox: Pick<WorkflowOutbox, 'count'>;
  logger: Pick<Logger, 'warn'>;
}

/** Rejects creates while more than 10,000 payments wait in the outbox for their workflow. */
export const createBacklog = ({ outbox, logger }: Deps) => {
  let isFull = false;
  const update = async () => {
    isFull = (await outbox.count(outboxMax + 1)) > outboxMax;
  };
  const timer = setInterval(() => {
    update().catch((error: unknown) =>
      logger.warn({ err: error }, 'Could not count the outbox; the last count stays in use'),
    );
  }, checkIntervalMs);
  return {
    /** @throws PaymentError SERVICE_UNAVAILABLE */
    check(): void {
      if (isFull)
        throw new PaymentError(
          'SERVICE_UNAVAILABLE',
          'Too many payments are waiting to be started.',
        );
    },
    stop: () => clearInterval(timer),
  };
};
export type Backlog = ReturnType<typeof createBacklog>;
