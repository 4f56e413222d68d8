import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A TCP link to a server, for instance a gateway or Postgres, that can be disturbed. */
export interface Link {
  url: string;
  /** Breaks every connection and accepts no new ones, until it is called with false. */
  cut(isCut: boolean): void;
  /**
   * A route that is broken on the way, until it is called with false: no connection is refused, and nothing is answered. The
   * server still gets what comes through an old connection. Later these connections break.
   */
  swallow(isSwallowing: boolean): void;
  /** Resets every connection, as a load balancer can. New ones work. */
  reset(): void;
  /** Delays each piece of data from the server. */
  slow(delayMs: () => number): void;
  stop(): Promise<void>;
}

/** @param target a URL on this machine, of which the port counts */
export const startLink = async (target: string): Promise<Link> => {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isCut = false;
  let isSwallowing = false;
  let delayMs = () => 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    clients.add(client);
    client.once('close', () => clients.delete(client));
    track(client);
    if (isSwallowing) return void client.resume();
    const upstream = connect(port, '127.0.0.1');
    track(upstream);
    client.pipe(upstream);
    let last = Promise.resolve();
    client.once('close', () => upstream.destroy());
    // An idle server closes its connection while a response is still being delayed.
    upstream.once('close', () => void last.then(() => client.destroy()));
    upstream.on('data', (piece: Buffer) => {
      if (isSwallowing) return;
      const delayed = new Promise<void>((resolve) => setTimeout(resolve, delayMs()));
      // In order, however long each piece is delayed.
      last = last.then(() => delayed).then(() => void client.write(piece));
    });
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // It listens on TCP.
    cut(now) {
      isCut = now;
      if (now) destroyAll();
    },
    swallow(now) {
      if (isSwallowing && !now) destroyAll();
      isSwallowing = now;
    },
    reset() {
      for (const client of clients) client.resetAndDestroy();
    },
    slow(next) {
      delayMs = next;
    },
    async stop() {
      server.close();
      destroyAll();
      await once(server, 'close');
    },
  };
};
