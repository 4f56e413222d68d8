import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { connectClient } from '../../../temporal/client.ts';
import { temporalDependency } from '../../../telemetry/temporal-dependency.ts';
import { openMetricsPort } from '../../../telemetry/port.ts';
import { answerCall, emptyMessage } from '../../support/grpc.ts';

/** One that leaves its first call unanswered, on a connection that works. */
const anEngine = async (): Promise<string> => {
  let calls = 0;
  const server = createServer().on('stream', (stream) => {
    calls += 1;
    if (calls === 1) stream.on('error', () => {}).resume();
    else answerCall(stream, emptyMessage);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // A string only for pipes.
};

it('asks the engine again after a call that was never answered', async () => {
  const connectionOptions = { address: await anEngine() };
  const client = connectClient({ connectionOptions, namespace: 'default' });
  onTestFinished(() => client.connection.close());
  const metricsPort = await openMetricsPort({
    config: { METRICS_HOST: '127.0.0.1', METRICS_PORT: 0 },
    registry: new Registry(),
    dependencies: { temporal: temporalDependency(client, { needed: true }) },
  });
  onTestFinished(() => metricsPort.close());
  const ready = async () => (await fetch(`http://127.0.0.1:${metricsPort.port}/readyz`)).status;
  expect(await ready()).toBe(503);
  await expect.poll(ready, { timeout: 15_000 }).toBe(200);
});
