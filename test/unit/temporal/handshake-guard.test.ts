import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { connectClient } from '../../../temporal/client.ts';
import { answerCall, emptyMessage } from '../../support/servers/grpc.ts';
import { selfSigned } from '../../support/servers/self-signed.ts';
import { listenForTest } from '../../support/servers/listen.ts';

type Behaviour = 'answers' | 'silent' | 'silent after TLS';

/** A server that treats each connection by its behaviour at the time of the connect. */
const aServer = async ({ tls = false } = {}) => {
  const backend = tls ? createSecureServer(selfSigned) : createHttp2Server();
  const to = await listenForTest(
    backend.on('stream', (stream) => answerCall(stream, emptyMessage)),
  );
  const silentTls = createTlsServer({ ...selfSigned, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => {}).resume();
  });
  const toSilentTls = await listenForTest(silentTls);
  const made: Behaviour[] = [];
  const sockets = new Set<Socket>();
  const faults = { behaviour: 'answers' as Behaviour };
  const proxy = createServer((client) => {
    made.push(faults.behaviour);
    sockets.add(client);
    client.on('error', () => {}).once('close', () => sockets.delete(client));
    if (faults.behaviour === 'silent') return void client.resume();
    const port = faults.behaviour === 'answers' ? to : toSilentTls;
    const upstream = connect(port, '127.0.0.1').on('error', () => client.destroy());
    client.once('close', () => upstream.destroy()).pipe(upstream);
    upstream.once('close', () => client.destroy()).pipe(client);
  });
  const port = await listenForTest(proxy);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { address: `localhost:${port}`, made, faults, open: () => sockets.size };
};

/** Longer than a busy machine stands still. */
const handshakeMs = 2_000;

const aClient = (address: string, tls?: object) => {
  const connectionOptions = { address, ...(tls && { tls }) };
  const client = connectClient({ connectionOptions, namespace: 'default' }, { handshakeMs });
  onTestFinished(() => client.connection.close());
  return {
    ask: (ms = 300) =>
      client.withDeadline(Date.now() + ms, () => client.workflowService.getSystemInfo({})),
  };
};

const trusted = { serverRootCACertificate: Buffer.from(selfSigned.cert) };

it.each([
  ['silent', 'in the clear', undefined],
  ['silent', 'with TLS', trusted],
  ['silent after TLS', 'with TLS', trusted],
] as const)('connects again to a server that was %s, %s', async (behaviour, _, tls) => {
  const server = await aServer({ tls: tls !== undefined });
  const { ask } = aClient(server.address, tls);
  server.faults.behaviour = behaviour;
  await expect(ask()).rejects.toThrow('DEADLINE_EXCEEDED');
  await expect.poll(() => server.made, { timeout: 60_000 }).toEqual([behaviour]);
  server.faults.behaviour = 'answers';
  await expect(ask(60_000)).resolves.toEqual({});
  await expect.poll(server.open, { timeout: 60_000 }).toBe(1);
});

it.each([
  ['in the clear', undefined],
  ['with TLS', trusted],
])('keeps a connection on which the server has answered, %s', async (_, tls) => {
  const server = await aServer({ tls: tls !== undefined });
  const { ask } = aClient(server.address, tls);
  await ask(60_000);
  // Over 2 s by the clock: what must not happen cannot be awaited, and the guard's limit has to pass.
  await new Promise((resolve) => setTimeout(resolve, handshakeMs + 500));
  await ask(60_000);
  expect(server.made).toEqual(['answers']);
});
