import { once } from 'node:events';
import type { Http2Server } from 'node:http2';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { connectClient } from '../../../temporal/client.ts';
import { answerCall, emptyMessage } from '../../support/grpc.ts';
import { selfSigned } from '../../support/self-signed.ts';

const listening = async (server: Server | Http2Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port; // A string only for pipes.
};

type Behaviour = 'answers' | 'silent' | 'silent after TLS';

/** An engine that behaves to each connection as it does when that one is made. */
const anEngine = async ({ tls = false } = {}) => {
  const engine = tls ? createSecureServer(selfSigned) : createHttp2Server();
  const to = await listening(engine.on('stream', (stream) => answerCall(stream, emptyMessage)));
  const mute = createTlsServer({ ...selfSigned, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => {}).resume();
  });
  const toMute = await listening(mute);
  const made: Behaviour[] = [];
  const sockets = new Set<Socket>();
  const faults = { behaviour: 'answers' as Behaviour };
  const door = createServer((client) => {
    made.push(faults.behaviour);
    sockets.add(client);
    client.on('error', () => {}).once('close', () => sockets.delete(client));
    if (faults.behaviour === 'silent') return void client.resume();
    const port = faults.behaviour === 'answers' ? to : toMute;
    const upstream = connect(port, '127.0.0.1').on('error', () => client.destroy());
    client.once('close', () => upstream.destroy()).pipe(upstream);
    upstream.once('close', () => client.destroy()).pipe(client);
  });
  const port = await listening(door);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { address: `localhost:${port}`, made, faults, open: () => sockets.size };
};

const handshakeMs = 500;

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
] as const)('connects anew to an engine that was %s, %s', async (behaviour, _, tls) => {
  const engine = await anEngine({ tls: tls !== undefined });
  const { ask } = aClient(engine.address, tls);
  engine.faults.behaviour = behaviour;
  await expect(ask()).rejects.toThrow('DEADLINE_EXCEEDED');
  expect(engine.made).toEqual([behaviour]);
  engine.faults.behaviour = 'answers';
  await expect(ask(5_000)).resolves.toEqual({});
  await expect.poll(engine.open).toBe(1);
});

it.each([
  ['in the clear', undefined],
  ['with TLS', trusted],
])('keeps a connection on which the engine has spoken, %s', async (_, tls) => {
  const engine = await anEngine({ tls: tls !== undefined });
  const { ask } = aClient(engine.address, tls);
  await ask(5_000);
  await new Promise((resolve) => setTimeout(resolve, 2 * handshakeMs));
  await ask(5_000);
  expect(engine.made).toEqual(['answers']);
});
