import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './listen.ts';

const readyPollMs = 200;

/**
 * A plain TCP proxy in front of several processes. It distributes connections in turn and tries the next
 * process when one refuses a connection. It does not parse HTTP.
 * @param readyUrls where each process says whether it is ready. A process that is not gets no new connections,
 * unless none is ready: the kernel may reset a connection that a stopping process has not accepted yet.
 */
export const startTcpProxy = async (
  targets: readonly string[],
  readyUrls: readonly string[] = [],
) => {
  const ports = targets.map((url) => Number(new URL(url).port));
  const ready = targets.map(() => true);
  let isStopped = false;
  // One after the other: a late answer would hide a newer one.
  const poll = async (index: number, url: string) => {
    while (!isStopped) {
      ready[index] = await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
      await sleep(readyPollMs);
    }
  };
  for (const [index, url] of readyUrls.entries()) void poll(index, url);
  const sockets = new Set<Socket>();
  const cuts: string[] = [];
  let turns = 0;
  const pass = (client: Socket, turn: number, tries: number) => {
    if (!ready[turn % ports.length] && ready.includes(true)) return pass(client, turn + 1, tries);
    const upstream = connect(ports[turn % ports.length] ?? 0, '127.0.0.1');
    sockets.add(upstream);
    upstream.once('close', () => sockets.delete(upstream));
    const refused = () => {
      if (tries > 1) pass(client, turn + 1, tries - 1);
      else {
        cuts.push('refused by all');
        client.destroy();
      }
    };
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused);
      upstream.on('error', (error) => {
        cuts.push(`${error.message} after ${upstream.bytesRead} bytes read`);
        client.destroy();
      });
      client.on('error', () => upstream.destroy());
      client.on('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  };
  const server = createServer((client) => {
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    pass(client, (turns += 1), ports.length);
  });
  const port = await listenOnLoopback(server);
  return {
    /** The reasons for connections that were cut, but not by the client. */
    cuts,
    url: `http://127.0.0.1:${port}`,
    /** Stops forwarding on all open connections without closing them. New connections work. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async stop() {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
