import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../../stack/ports.ts';
import { openUiDoor } from '../../../../stack/temporal/ui-door.ts';
import { oddRequests, requestsFor, sendAndLeave } from '../../../support/servers/raw-requests.ts';
import { until } from '../../../support/until.ts';

const echo = (req: IncomingMessage, res: ServerResponse) => {
  void text(req).then(
    (body) => res.writeHead(202).end(`${req.method} ${req.url} ${body}`),
    () => res.destroy(),
  );
};

/** A door before a UI that this server is. */
const aDoorBefore = async (server: Server) => {
  const { url, ui } = await openUiDoor(await freePort());
  server.listen(ui.port, ui.host);
  await once(server, 'listening');
  return to(url);
};

/** A door before a UI that answers with what it was asked. */
const aDoor = async (answer = echo) => {
  const server = createServer(answer);
  const door = await aDoorBefore(server);
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    if (server.listening) await once(server, 'close');
  };
  onTestFinished(stop);
  return { ...door, stop };
};

/** A door before a UI that answers with these bytes, whatever was asked. */
const aDoorTo = async (bytes: string) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  onTestFinished(() => void server.close());
  return aDoorBefore(server);
};

const to = (url: string) => {
  const { host, port } = new URL(url);
  return {
    url,
    host,
    address: { host: '127.0.0.1', port: Number(port) },
    ask: async (name = host) => {
      const headers = { host: name };
      const sent = request({ port, method: 'POST', path: '/api/v1/x?y=1', headers, agent: false });
      sent.end('body');
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return [answer.statusCode, await text(answer)];
    },
  };
};

const answered = [202, 'POST /api/v1/x?y=1 body'];

it('passes on what is asked under its own name', async () => {
  const { ask } = await aDoor();
  expect(await ask()).toEqual(answered);
});

it('answers 421 to a name that somebody else has bound to this machine', async () => {
  const { url, address, ask } = await aDoor();
  for (const host of ['evil.example', `evil.example:${address.port}`, `localhost:${address.port}`])
    expect(await ask(host)).toEqual([421, `The Temporal UI is at ${url}\n`]);
});

it('closes the connection while the UI is away', async () => {
  const { ask, stop } = await aDoor();
  await stop();
  await expect(ask()).rejects.toThrow('socket hang up');
});

it.each([true, false])(
  'lets the UI know that the browser has left, and goes on (reset: %s)',
  async (reset) => {
    const open = new Set<ServerResponse>();
    const { ask, address, host } = await aDoor((req, res) => {
      if (req.url !== '/poll') return echo(req, res);
      open.add(res);
      res.once('close', () => open.delete(res));
    });
    const polls = requestsFor(
      host,
      Array.from({ length: 20 }, () => '/poll'),
    );
    const after = until('all wait', () => open.size === polls.length);
    await Promise.all(polls.map((poll) => sendAndLeave(address, poll, { after, reset })));
    await until('none waits', () => open.size === 0);
    expect(await ask()).toEqual(answered);
  },
);

it('goes on when the UI answers just as the browser leaves', async () => {
  let answers = 0;
  const { ask, address, host } = await aDoor((req, res) => {
    if (req.method !== 'GET') return echo(req, res);
    setTimeout(() => {
      answers += 1;
      res.end('page'.repeat(100_000));
    }, 30);
  });
  const pages = requestsFor(
    host,
    Array.from({ length: 60 }, () => '/'),
  );
  await Promise.all(
    pages.map((page, index) =>
      sendAndLeave(address, page, { after: 10 + index, reset: index % 2 === 0 }),
    ),
  );
  await until('the UI has answered', () => answers > 0);
  expect(await ask()).toEqual(answered);
});

it('goes on after requests that are no requests', async () => {
  const { ask, address, host } = await aDoor();
  for (const bytes of oddRequests(host))
    for (const reset of [true, false]) await sendAndLeave(address, bytes, { after: 20, reset });
  expect(await ask()).toEqual(answered);
});

it.each([
  ['no HTTP', 'hello'],
  ['a status that Node does not send', 'HTTP/1.1 099 ?\r\n\r\n'],
  ['an upgrade', 'HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ['half an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'],
])('closes the connection when the UI answers with %s', async (_, bytes) => {
  const { ask } = await aDoorTo(bytes);
  await expect(ask()).rejects.toThrow(/hang up|aborted/);
  await expect(ask()).rejects.toThrow(/hang up|aborted/);
});

it('passes on an answer that announces trailers', async () => {
  const { ask } = await aDoorTo('HTTP/1.1 200 OK\r\nTrailer: x\r\nContent-Length: 2\r\n\r\nok');
  expect(await ask()).toEqual([200, 'ok']);
});

it.each([
  'the browser has sent all that it sends',
  'the browser leaves in the middle of an upload',
])('goes on when %s', async (title) => {
  const isUpload = title.includes('upload');
  let begun = 0;
  const { ask, address, host } = await aDoor((req, res) => {
    if (req.url === '/api/v1/x?y=1') return echo(req, res);
    // The UI reads nothing of an upload, so that the door cannot pass all of it on.
    begun += 1;
    if (!isUpload) setTimeout(() => res.end('late'), 30);
  });
  const line = isUpload ? 'POST /up HTTP/1.1\r\nContent-Length: 90000000' : 'GET /poll HTTP/1.1';
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(address.port, address.host, () => {
      socket.write(`${line}\r\nHost: ${host}\r\n\r\n`);
      if (isUpload) socket.write('x'.repeat(500_000));
      else socket.end();
    });
    socket.on('error', () => socket.destroy());
    return socket;
  });
  await until('all wait', () => begun === sockets.length);
  for (const socket of sockets) socket.resetAndDestroy();
  expect(await ask()).toEqual(answered);
});
