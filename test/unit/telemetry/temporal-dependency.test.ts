import { createServer } from 'node:http2';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { openMetricsPort } from '../../../telemetry/port.ts';
import { temporalDependency } from '../../../telemetry/temporal-dependency.ts';
import { connectClient } from '../../../temporal/client.ts';
import { answerCall, emptyMessage } from '../../support/servers/grpc.ts';
import { listenForTest } from '../../support/servers/listen.ts';

/** A fake Temporal that never responds to the first call, on a working connection. */
const startTemporal = async (): Promise<string> => {
  let calls = 0;
  const server = createServer().on('stream', (stream) => {
    calls += 1;
    if (calls === 1) stream.on('error', () => {}).resume();
    else answerCall(stream, emptyMessage);
  });
  return `127.0.0.1:${await listenForTest(server)}`;
};

it('checks Temporal again after a call that never ended', async () => {
  const connectionOptions = { address: await startTemporal() };
  const client = connectClient({ connectionOptions, namespace: 'default' });
  onTestFinished(() => client.connection.close());
  const metricsPort = await openMetricsPort({
    config: { METRICS_HOST: '127.0.0.1', METRICS_PORT: 0 },
    registry: new Registry(),
    dependencies: { temporal: temporalDependency(client, { required: true }) },
  });
  onTestFinished(() => metricsPort.close());
  const ready = async () => (await fetch(`http://127.0.0.1:${metricsPort.port}/readyz`)).status;
  expect(await ready()).toBe(503);
  await expect.poll(ready, { timeout: 60_000 }).toBe(200);
});
