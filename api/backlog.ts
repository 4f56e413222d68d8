import { PaymentError } from '../contract/errors.ts';
import type { Unstarted } from '../postgres/unstarted.ts';
import type { Logger } from '../process.ts';

const unstartedMax = 10_000;
const lookEveryMs = 5_000;

export interface Deps {
  unstarted: Pick<Unstarted, 'count'>;
  logger: Pick<Logger, 'warn'>;
}

/** Refuses creates while too many payments have no workflow yet. */
export const createBacklog = ({ unstarted, logger }: Deps) => {
  let full = false;
  const look = async () => {
    full = (await unstarted.count(unstartedMax + 1)) > unstartedMax;
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
