import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { runProcess } from '../../../process.ts';

const [, , connectionFile] = process.argv;

const readShopPort = (path: string): number =>
  Number(new URL((JSON.parse(readFileSync(path, 'utf8')) as { shop_url: string }).shop_url).port);

/** Replaces the API, the worker and the shop: answers every request with its own environment. */
await runProcess(async () => {
  const { env } = process;
  const server = createServer((_request, response) => response.end(JSON.stringify(env)));
  const port = connectionFile
    ? readShopPort(connectionFile)
    : Number(env['API_PORT'] ?? env['CONSOLE_PORT'] ?? env['METRICS_PORT']);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.close();
  };
});
