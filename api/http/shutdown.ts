import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

const drainMaxMs = 5_000;
const quietTurnMs = 0.1;
const turnsMax = 10_000;

/**
 * Stops the server without cutting a request. The caller has reported "not ready" before.
 *
 * 1. Drain: new requests are still served, and `drain` makes every response close its connection. Proxies
 *    move elsewhere, and connections end after a response, not while a client writes its next request.
 * 2. Close: refuse new connections, close idle ones, wait for the running requests.
 * 3. After the grace, cut what is left.
 */
export const shutdownGracefully = async (
  server: Server,
  { graceMs, drain }: { graceMs: number; drain: () => void },
): Promise<void> => {
  const closed = once(server, 'close');
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  drain();
  await sleep(Math.min(drainMaxMs, graceMs / 4));
  await emptyAcceptQueue(server);
  server.close();
  await closed;
  clearTimeout(cut);
};

/**
 * Waits for a short turn of the event loop that accepts no connection. The kernel resets the connections
 * that wait to be accepted when a server stops listening, and Node accepts one a turn.
 */
const emptyAcceptQueue = async (server: Server) => {
  let accepted = false;
  const onConnection = () => {
    accepted = true;
  };
  server.on('connection', onConnection);
  for (let turn = 0; turn < turnsMax; turn += 1) {
    accepted = false;
    const startedAt = performance.now();
    await nextTurn();
    if (!accepted && performance.now() - startedAt < quietTurnMs) break;
  }
  server.off('connection', onConnection);
};
