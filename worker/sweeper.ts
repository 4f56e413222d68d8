import type { Client } from '@temporalio/client';
import type { Logger } from '../telemetry/log.ts';
import { ensureSweeper } from '../temporal/sweeper.ts';

export interface Deps {
  client: Client;
  logger: Pick<Logger, 'warn'>;
}

const everyMs = 60_000;

/** Keeps the namespace's one sweeper running: a terminated one is back within a minute. */
export const keepSweeperRunning = ({ client, logger }: Deps) => {
  let timer: NodeJS.Timeout | undefined;
  return {
    /** @throws if the first start fails; later failures are logged and tried again */
    async start(): Promise<void> {
      await ensureSweeper(client);
      timer = setInterval(() => {
        ensureSweeper(client).catch((error: unknown) => {
          logger.warn({ err: error }, 'Could not start the sweeper; trying again in a minute');
        });
      }, everyMs).unref();
    },

    stop(): void {
      clearInterval(timer);
    },
  };
};
