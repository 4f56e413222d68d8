import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { runProcess } from '../../../process.ts';

const [, , connectionFile] = process.argv;

const portOf = (path: string): number =>
  Number(new URL((JSON.parse(readFileSync(path, 'utf8')) as { shop_url: string }).shop_url).port);

const portOfEnvironment = ({ API_PORT, METRICS_PORT }: NodeJS.ProcessEnv): number =>
  Number(API_PORT ?? METRICS_PORT ?? 0);

/** Stands in for the API, the worker and the shop: answers with its own environment. */
await runProcess(async () => {
  const { env } = process;
  const server = createServer((_request, response) =>
    response.end(JSON.stringify({ ...env, PID: process.pid })),
  );
  const port = connectionFile ? portOf(connectionFile) : portOfEnvironment(env);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.close();
  };
});
