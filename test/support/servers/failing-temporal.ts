import { createServer, type ServerHttp2Session } from 'node:http2';
import { answerCall } from './grpc.ts';
import { listenOnLoopback } from './listen.ts';

/** A Temporal server that gives these answers by method, and UNAVAILABLE to any other call. */
export const startFailingTemporal = async (answers: Readonly<Record<string, Uint8Array>>) => {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    answerCall(stream, answers[headers[':path']?.split('/').at(-1) ?? '']);
  });
  const port = await listenOnLoopback(server);
  return {
    address: `127.0.0.1:${port}`,
    stop() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
};
