import type { Client } from '@temporalio/client';
import type { Logger } from '../telemetry/log.ts';
import { ensureComparisons } from '../temporal/comparisons.ts';
import { ensureNotices } from '../temporal/notices.ts';
import { ensureSweeper } from '../temporal/sweeper.ts';

export interface Deps {
  client: Client;
  /** This worker sends mails. */
  sendsMail: boolean;
  logger: Pick<Logger, 'warn'>;
}

const everyMs = 60_000;

/** Keeps what the namespace has once running: the sweeper, the schedule of the comparisons with gateways' books, and the sender of mails. */
export const keepRunning = ({ client, sendsMail, logger }: Deps) => {
  let timer: NodeJS.Timeout | undefined;
  const ensure = async () => {
    await ensureSweeper(client);
    await ensureComparisons(client);
    if (sendsMail) await ensureNotices(client);
  };
  return {
    /** @throws if the first start fails; later failures are logged and tried again */
    async start(): Promise<void> {
      await ensure();
      timer = setInterval(() => {
        ensure().catch((error: unknown) => {
          logger.warn(
            { err: error },
            'Could not start the sweeper and the schedule; trying again in a minute',
          );
        });
      }, everyMs).unref();
    },

    stop(): void {
      clearInterval(timer);
    },
  };
};
