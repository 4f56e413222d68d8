import { PaymentError } from '../contract/errors.ts';
import type { Unstarted } from '../postgres/unstarted.ts';

const unstartedMax = 10_000;
const lookEveryMs = 5_000;

/** Refuses creates while too many payments have no workflow yet. */
export const createBacklog = ({ unstarted }: { unstarted: Pick<Unstarted, 'count'> }) => {
  let full = false;
  const look = async () => {
    full = (await unstarted.count(unstartedMax + 1)) > unstartedMax;
  };
  // Postgres away: creates fail by themselves, and the last look holds.
  const timer = setInterval(() => void look().catch(() => {}), lookEveryMs);
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
