import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../chaos/client.ts';
import { createJournal } from '../../../chaos/journal.ts';

/** What is a problem where the service answers so; 0: not at all. */
const problemsOf = async (status: number, { asksGateway = false } = {}) => {
  const server = createServer((req, res) =>
    status === 0 ? req.socket.destroy() : res.writeHead(status).end('why'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const journal = createJournal();
  const takes = (answered: number) => answered === 200;
  await createClient(journal)(
    { method: 'GET', url: `http://127.0.0.1:${port}` },
    { what: 'read', order: 'order-1', until: 0, takes, asksGateway },
  );
  return journal.problems().map(({ text }) => text);
};

it.each([500, 501, 502, 504, 429, 404, 204])('a caller takes %i for a fault', async (status) => {
  expect(await problemsOf(status)).toHaveLength(1);
});

it('a 500 is a fault also of who asks the gateway', async () => {
  expect(await problemsOf(500, { asksGateway: true })).toEqual(['read was answered 500: why']);
});

it('no answer and a 503 are what a kill looks like, and a 502 what a silent gateway does', async () => {
  expect(await problemsOf(0)).toEqual([]);
  expect(await problemsOf(503)).toEqual([]);
  expect(await problemsOf(200)).toEqual([]);
  expect(await problemsOf(502, { asksGateway: true })).toEqual([]);
});
