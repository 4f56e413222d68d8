import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { freePort } from '../ports.ts';

/**
 * Stands in front of the Temporal UI, which has no login and answers under every name: a web page whose name is
 * bound to this machine could end workflows through it.
 * @returns its URL, and the address for the UI itself
 */
export const openUiDoor = async (port: number) => {
  const ui = { host: anyLoopback(), port: await freePort() };
  const own = `127.0.0.1:${port}`;
  const server = createServer((req, res) => {
    if (req.headers.host === own) pass(req, res, ui);
    else res.writeHead(421).end(`The Temporal UI is at http://${own}\n`);
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

const pass = (req: IncomingMessage, res: ServerResponse, to: { host: string; port: number }) => {
  const { url: path, method, headers } = req;
  const sent = request({ ...to, path, method, headers, agent: false });
  const cut = () => void res.destroy();
  sent.once('error', cut).once('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    pipeline(answer, res, cut);
  });
  pipeline(req, sent, (error) => error && cut());
};
