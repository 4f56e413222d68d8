import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** The wire to one gateway, or to what our processes lean on. It knows nothing of what is said there. */
export interface Link {
  url: string;
  /** Every connection breaks, and new ones are not accepted. */
  cut(isCut: boolean): void;
  /** Every connection breaks, as where a load balancer gives them up; new ones are as ever. */
  reset(): void;
  /** What comes from the gateway is held back, each piece anew. */
  slow(delayMs: () => number): void;
  stop(): Promise<void>;
}

/** @param target its port is what counts */
export const startLink = async (target: string): Promise<Link> => {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isCut = false;
  let delayMs = () => 0;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const gateway = connect(port, '127.0.0.1');
    clients.add(client);
    client.once('close', () => clients.delete(client));
    for (const socket of [client, gateway]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        gateway.destroy();
      });
    }
    client.pipe(gateway);
    let last = Promise.resolve();
    gateway.on('data', (piece: Buffer) => {
      const held = new Promise<void>((resolve) => setTimeout(resolve, delayMs()));
      // In order, however long each is held.
      last = last.then(() => held).then(() => void client.write(piece));
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
