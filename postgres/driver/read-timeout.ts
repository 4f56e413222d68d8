import type { Socket } from 'node:net';

/*
 * Symptom: when Postgres vanishes without closing its connections, the kernel waits for an answer for a
 * quarter of an hour, and the whole pool with it.
 * Upstream: https://github.com/porsager/postgres/issues/1089 (half-open connections).
 * Remove when: postgres.js has a read timeout that also works under TLS.
 *
 * query-timeout.ts says why there are two timeouts.
 */

type Connection = Pick<Socket, 'bytesRead' | 'bytesWritten' | 'destroyed' | 'destroy'>;

const tickMs = 1_000;
/** Longer than statement_timeout, 10 s, after which Postgres answers with an error. */
const answerTicks = 14;
/** Longer than idle_timeout, 60 s, after which the pool closes a connection. */
const idleTicks = 70;

/**
 * Destroys the connections of one pool that wait for an answer in vain.
 *
 * Each second it compares how many bytes a socket has read and written: the only facts that are visible
 * below TLS. A socket that has written since it last read, and then reads nothing for 14 s, is dead: it is
 * destroyed, and so is every other socket that has read nothing for as long. If a socket reads and
 * writes within the same second, the order is unknown, so it counts as idle. A socket that reads nothing
 * for 70 s is dead too, because the pool would have closed an idle one.
 *
 * It counts ticks instead of comparing times: after a suspended process resumes, its answers are still
 * to be read.
 */
export const createReadTimeout = () => {
  const watched = new Set<{ socket: Connection; silentTicks: number }>();
  return (socket: Connection): void => {
    const own = { socket, silentTicks: 0 };
    watched.add(own);
    let read = 0;
    let written = 0;
    let unansweredTicks = 0;
    const tick = () => {
      if (socket.destroyed) {
        clearInterval(timer);
        watched.delete(own);
      } else if (socket.bytesRead !== read) {
        ({ bytesRead: read, bytesWritten: written } = socket);
        unansweredTicks = 0;
        own.silentTicks = 0;
      } else {
        own.silentTicks += 1;
        if (socket.bytesWritten !== written) unansweredTicks += 1;
        // Without an error: under TLS nothing would catch it, and the process would exit.
        if (own.silentTicks >= idleTicks) socket.destroy();
        if (unansweredTicks >= answerTicks)
          for (const other of watched) if (other.silentTicks >= answerTicks) other.socket.destroy();
      }
    };
    const timer = setInterval(tick, tickMs);
    timer.unref();
  };
};
