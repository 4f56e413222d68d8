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
 * Counted, not listened for: of what TLS reads and writes the socket below it tells its counts alone.
 * Where something was read and written within one tick, nobody knows which came last. Who is silent
 * from then on is cut beside one that surely waits, or once it cannot be idle any more. Ticks, and
 * not the clock: a process that was suspended has its answers still before it.
 */
export const createSilenceWatch = () => {
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
