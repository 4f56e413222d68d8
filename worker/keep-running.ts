import type { Client } from '@temporalio/client';
import type { Logger } from '../telemetry/log.ts';
import { ensureComparisons } from '../temporal/comparisons.ts';
import { ensureSweeper } from '../temporal/sweeper.ts';

export interface Deps {
  client: Client;
  logger: Pick<Logger, 'warn'>;
}

const everyMs = 60_000;

/** Keeps what the namespace has once running: the sweeper, and the schedule of the comparisons with gateways' books. */
export const keepRunning = ({ client, logger }: Deps) => {
  let timer: NodeJS.Timeout | undefined;
  const ensure = async () => {
    await ensureSweeper(client);
    await ensureComparisons(client);
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
