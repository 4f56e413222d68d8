import type { Socket } from 'node:net';

type Connection = Pick<Socket, 'bytesRead' | 'bytesWritten' | 'destroyed' | 'destroy'>;

const tickMs = 1_000;
/** Postgres ends a statement after 10 s, and says so. */
const answerTicks = 14;
/** The pool ends a connection that is idle for 60 s. */
const idleTicks = 70;

/**
 * Cuts the connections of a pool whose server has vanished: where nothing ever says so, the kernel
 * would wait for an answer for a quarter of an hour, and all of the pool with it.
 *
 * Each second it looks at how many bytes a socket has read and written, which are all that it tells
 * below TLS. Who has written since it last read, and reads nothing for 14 s, waits in vain: it is cut,
 * and so are all others that have read nothing for as long. Where it read and wrote within one second
 * nobody knows which came last, so it does not count as one that waits. Who reads nothing for 70 s is
 * cut as well: the pool would have closed an idle one. Seconds are counted, not read from the clock: a
 * process that was suspended has its answers still before it.
 */
export const createReadTimeout = () => {
  const watched = new Set<{ socket: Connection; silent: number }>();
  return (socket: Connection): void => {
    const own = { socket, silent: 0 };
    watched.add(own);
    let read = 0;
    let written = 0;
    let unanswered = 0;
    const tick = () => {
      if (socket.destroyed) {
        clearInterval(timer);
        watched.delete(own);
      } else if (socket.bytesRead !== read) {
        ({ bytesRead: read, bytesWritten: written } = socket);
        unanswered = 0;
        own.silent = 0;
      } else {
        own.silent += 1;
        if (socket.bytesWritten !== written) unanswered += 1;
        // Without an error: under TLS nobody would listen to it, and the process would end.
        if (own.silent >= idleTicks) socket.destroy();
        if (unanswered >= answerTicks)
          for (const each of watched) if (each.silent >= answerTicks) each.socket.destroy();
      }
    };
    const timer = setInterval(tick, tickMs);
    timer.unref();
  };
};
