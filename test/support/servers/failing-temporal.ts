import { once } from 'node:events';
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { answerCall } from './grpc.ts';

/** A Temporal server that gives these answers by method, and UNAVAILABLE to any other call. */
export const startFailingTemporal = async (answers: Readonly<Record<string, Uint8Array>>) => {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    answerCall(stream, answers[headers[':path']?.split('/').at(-1) ?? '']);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
};
