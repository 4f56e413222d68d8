import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';

const readLimitMs = 2_000;

/**
 * The metrics of the Temporal SDK. It serves them only on a port of its own, so it gets a free port on
 * loopback, and the metrics port reads them from there.
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
    /** Returns the exposition format; empty if the SDK does not respond. */
    async read(): Promise<string> {
      try {
        const signal = AbortSignal.timeout(readLimitMs);
        const response = await fetch(`http://${bindAddress}/metrics`, { signal });
        return response.ok ? await response.text() : '';
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
