import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { Agent, request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { beginTry, createGatewayDispatcher, gatewayLimits } from '../../../gateways/http.ts';
import { createLookup } from '../../../webhooks/dns.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';
import { listenForTest } from '../../support/servers/listen.ts';

const createDispatcher = (...options: Parameters<typeof createGatewayDispatcher>) => {
  const dispatcher = createGatewayDispatcher(...options);
  onTestFinished(() => dispatcher.destroy());
  return dispatcher;
};

const call = (
  dispatcher: ReturnType<typeof createGatewayDispatcher>,
  baseUrl: string,
  limits: { callMs?: number; tryMs?: number } = {},
) => {
  const target = { provider: 'somebody', baseUrl, override: undefined };
  const callGateway = beginTry({ dispatcher, allowLoopback: true, ...limits })(target);
  return callGateway({ operation: 'status', method: 'GET', path: '/' });
};

it('allows 3 s for a connection, 10 s for a call and 20 s for all calls of a try', () => {
  expect(gatewayLimits).toEqual({ connectMs: 3_000, callMs: 10_000, tryMs: 20_000 });
});

it('gives up a host that accepts connections and stays silent', async () => {
  const sockets = new Set<Socket>();
  const port = await listenForTest(createTcpServer((socket) => sockets.add(socket)));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  // It takes the documented 3 s of a connection, by the clock: undici has timers of its own.
  const patient = { callMs: 60_000, tryMs: 60_000 };
  // It gives up after 10 s. undici counts the turns of one timer for all, also when the machine stands still.
  const usual = new Agent();
  onTestFinished(() => usual.destroy());
  let isUsualOver = false;
  void request(`https://127.0.0.1:${port}`, { dispatcher: usual })
    .catch(() => {})
    .then(() => (isUsualOver = true));
  await expect(call(createDispatcher(), `https://127.0.0.1:${port}`, patient)).rejects.toThrow(
    'UND_ERR_CONNECT_TIMEOUT',
  );
  expect(isUsualOver).toBe(false);
});

it('throws GatewayUnavailable for a response that is not HTTP', async () => {
  await using server = await startRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const error = await call(createDispatcher(), new URL(server.url).origin).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayUnavailable);
  expect(error).toMatchObject({ message: 'somebody, status: the response is not HTTP' });
});

it('offers HTTP/1.1 only, so that calls do not share a connection', async () => {
  let offered: string[] = [];
  const server = createServer({
    ALPNCallback({ protocols }) {
      offered = protocols;
      return undefined;
    },
  });
  const port = await listenForTest(server);
  await expect(call(createDispatcher(), `https://127.0.0.1:${port}`)).rejects.toThrow(
    GatewayUnavailable,
  );
  expect(offered).toEqual(['http/1.1']);
});

it('delays no call by the hanging lookup of another host', async () => {
  const port = await listenForTest(createHttpServer((_req, res) => res.end('{"ok":true}')));
  const lookup = createLookup((hostname) =>
    hostname === 'alive.example' ? Promise.resolve(['127.0.0.1']) : new Promise(() => {}),
  );
  const dispatcher = createDispatcher({ lookup });
  const callHost = (host: string, callMs: number) =>
    call(dispatcher, `http://${host}:${port}`, { callMs });
  const hanging = Array.from({ length: 20 }, () => callHost('dead.example', 500));
  const response = { status: 200, body: { ok: true } };
  expect(await callHost('alive.example', 5_000)).toEqual(response);
  for (const result of await Promise.allSettled(hanging))
    expect(result).toMatchObject({ reason: expect.any(GatewayUnavailable) });
});
