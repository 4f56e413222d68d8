import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './listen.ts';

export interface RawServer extends AsyncDisposable {
  url: string;
  /** Every complete request received so far. */
  requests: string[];
  /** Connections that are open now. */
  open(): number;
  /** The most connections that were open at the same time. */
  most(): number;
}

/** A server on loopback that calls `behave` with the connection after each complete request. */
export const startRawServer = async (
  behave: (socket: Socket, nth: number) => void,
): Promise<RawServer> => {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let most = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    let request = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      request += chunk;
      const head = request.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(request)?.[1] ?? 0);
      if (head < 0 || request.length < head + 4 + length) return;
      requests.push(request);
      request = '';
      behave(socket, requests.length);
    });
    // A sender may close in the middle of a response.
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    requests,
    open: () => sockets.size,
    most: () => most,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
