import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Dispatcher, Pool } from 'undici';
import { freePort } from '../ports.ts';

/**
 * Stands in front of the Temporal UI, which has no login and answers under every name: a web page whose name is
 * bound to this machine could end workflows through it.
 * @returns its URL, and the address for the UI itself
 */
export const openUiDoor = async (port: number) => {
  const ui = { host: anyLoopback(), port: await freePort() };
  const own = `127.0.0.1:${port}`;
  const pool = new Pool(`http://${ui.host}:${ui.port}`);
  const server = createServer((req, res) => {
    if (req.headers.host !== own) res.writeHead(421).end(`The Temporal UI is at http://${own}\n`);
    // It runs in the process of `npm start`, which an error that nobody takes ends, with all that it has started.
    else pass(req, res, pool).catch(() => res.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // It ends with the process.
  server.unref();
  return { url: `http://${own}`, ui };
};

/** On Linux no page can find the UI itself: it would have to try 16 million addresses. */
const anyLoopback = (): string =>
  process.platform === 'linux'
    ? `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
    : '127.0.0.1';

const pass = async (req: IncomingMessage, res: ServerResponse, ui: Dispatcher): Promise<void> => {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const { url: path = '', headers } = req;
  const hasBody = 'content-length' in headers || 'transfer-encoding' in headers;
  const answer = await ui.request({
    path,
    method: req.method as Dispatcher.HttpMethod,
    headers: endToEnd(headers),
    body: hasBody ? req : null,
    signal: gone.signal,
    reset: true,
  });
  res.writeHead(answer.statusCode, endToEnd(answer.headers));
  await pipeline(answer.body, res);
};

/** An agreement of both ends about one connection stays on it. */
const ofOneConnection = new Set([
  ...['connection', 'expect', 'keep-alive', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofOneConnection.has(name)));
