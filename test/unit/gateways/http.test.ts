import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { beginTry, createGatewayDispatcher, gatewayLimits } from '../../../gateways/http.ts';
import { createNameResolver } from '../../../gateways/dns.ts';
import { startRawServer } from '../../support/raw-server.ts';

/** @returns its port on loopback */
const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a TCP port.
  return port;
};

const ask = (
  dispatcher: ReturnType<typeof createGatewayDispatcher>,
  baseUrl: string,
  limits: { callMs?: number; tryMs?: number } = {},
) => {
  const target = { provider: 'somebody', baseUrl, override: undefined };
  const call = beginTry({ dispatcher, allowLoopback: true, ...limits })(target);
  return call({ what: 'asked', method: 'GET', path: '/' });
};

it('a connection has 3 s, a call 10 s and all calls of one try 20 s', () => {
  expect(gatewayLimits).toEqual({ connectMs: 3_000, callMs: 10_000, tryMs: 20_000 });
});

it('gives up a host that takes connections and says nothing', async () => {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => sockets.add(socket));
  const port = await listen(server);
  const dispatcher = createGatewayDispatcher();
  try {
    const patient = { callMs: 60_000, tryMs: 60_000 };
    const began = performance.now();
    await expect(ask(dispatcher, `https://127.0.0.1:${port}`, patient)).rejects.toThrow(
      'UND_ERR_CONNECT_TIMEOUT',
    );
    // By itself it would wait for 10 s.
    expect(performance.now() - began).toBeLessThan(9_000);
  } finally {
    await dispatcher.destroy();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

it('FS-07: whoever answers in something else than HTTP has given no answer', async () => {
  await using server = await startRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const dispatcher = createGatewayDispatcher();
  try {
    const error = await ask(dispatcher, new URL(server.url).origin).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(GatewayUnavailable);
    expect(error).toMatchObject({ message: 'somebody, asked: it did not answer in HTTP' });
  } finally {
    await dispatcher.destroy();
  }
});

it('asks for HTTP/1.1 alone: calls share no connection that may be dead for all of them', async () => {
  let offered: string[] = [];
  const server = createServer({
    ALPNCallback({ protocols }) {
      offered = protocols;
      return undefined;
    },
  });
  const port = await listen(server);
  const dispatcher = createGatewayDispatcher();
  try {
    await expect(ask(dispatcher, `https://127.0.0.1:${port}`)).rejects.toThrow(GatewayUnavailable);
    expect(offered).toEqual(['http/1.1']);
  } finally {
    await dispatcher.destroy();
    server.close();
  }
});

it('FS-45: uses the address it has where the name servers never answer for the other family', async () => {
  const servers = createSocket('udp4');
  servers.on('message', (question, { port, address }) => {
    const nameEnds = question.indexOf(0, 12);
    const isForV4 = question.readUInt16BE(nameEnds + 1) === 1;
    if (!isForV4) return;
    const head = Buffer.from([...question.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
    servers.send(Buffer.concat([head, question.subarray(12, nameEnds + 5), answer]), port, address);
  });
  servers.bind(0, '127.0.0.1');
  await once(servers, 'listening');
  const { port } = servers.address();
  const resolve = createNameResolver({ budgetMs: 20_000, servers: [`127.0.0.1:${port}`] });
  const began = performance.now();
  try {
    expect(await resolve('gateway.example')).toEqual(['192.0.2.7']);
    expect(performance.now() - began).toBeLessThan(5_000);
  } finally {
    servers.close();
  }
});

it('FS-45: asks for names itself, so that one dead zone does not keep the others waiting', async () => {
  const server = createHttpServer((_req, res) => res.end('{"ok":true}'));
  const port = await listen(server);
  const dispatcher = createGatewayDispatcher((hostname) =>
    hostname === 'alive.example' ? Promise.resolve(['127.0.0.1']) : new Promise(() => {}),
  );
  const askHost = (host: string, callMs: number) =>
    ask(dispatcher, `http://${host}:${port}`, { callMs });
  try {
    const dead = Array.from({ length: 20 }, () => askHost('dead.example', 500));
    // For localhost nobody is asked.
    for (const host of ['alive.example', 'localhost'])
      expect(await askHost(host, 5_000)).toEqual({ status: 200, body: { ok: true } });
    for (const result of await Promise.allSettled(dead))
      expect(result).toMatchObject({ reason: expect.any(GatewayUnavailable) });
  } finally {
    await dispatcher.destroy();
    server.close();
  }
});
