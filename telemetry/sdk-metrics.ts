import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';

const readMs = 2_000;

/**
 * The Temporal SDK's own metrics. It serves them on a port of its own only: one on loopback that
 * nobody has to know, from which the metrics port reads them.
 */
export const createSdkMetrics = async () => {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  const telemetry: TelemetryOptions = {
    metrics: {
      prometheus: {
        bindAddress,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
  };
  return {
    telemetry,
    /** In the exposition format; nothing while they cannot be had. */
    async read(): Promise<string> {
      try {
        const signal = AbortSignal.timeout(readMs);
        const answer = await fetch(`http://${bindAddress}/metrics`, { signal });
        return answer.ok ? await answer.text() : '';
      } catch {
        return '';
      }
    },
  };
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // A string only for pipes.
  await new Promise((resolve) => server.close(resolve));
  return port;
};
