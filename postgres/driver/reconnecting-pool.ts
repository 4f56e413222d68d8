import type { Socket } from 'node:net';
import type { Sql } from './connection.ts';
import { interceptQueries } from './intercept-queries.ts';
import { connectionClosed, isLost } from './transaction-guard.ts';

/** All that the former pool has begun has ended by then: Postgres ends a statement after 10 s. */
const drainMs = 15_000;

/**
 * One pool after another: once a connection was lost, all further statements go to a new one.
 *
 * The library forgets too little of a connection that it has lost. The first statement after it is
 * connected again fails by the old error and was never sent. One that it is given between the socket's
 * error and its end is never answered, and takes the connection with it; or it is answered with nothing,
 * as if it had been carried out.
 * @param open makes a pool and shows each of its sockets
 */
export const reconnectingPool = (open: (show: (socket: Socket) => void) => Sql): Sql => {
  const former = new Map<Sql, NodeJS.Timeout>();
  let isEnded = false;

  const start = () => {
    const sockets = new Set<Socket>();
    let isUsed = false;
    const look = () => {
      for (const socket of sockets) {
        isUsed ||= socket.bytesRead > 0;
        if (socket.destroyed) sockets.delete(socket);
      }
    };
    // Of one that has reached nobody nothing is kept; while Postgres is away each try would replace it.
    const lost = () => {
      look();
      if (isUsed && pool === current.pool) replace();
    };
    const pool = open((socket) => {
      look();
      sockets.add(socket);
      // Before the library hears of it. Below TLS nobody does, then the statements tell.
      socket.once('error', lost);
    });
    const failed = (error: unknown): never => {
      if (isLost(error)) lost();
      throw error;
    };
    const answered = (result: unknown) =>
      wasSent(result) ? result : failed(connectionClosed('The statement was never sent'));
    return {
      pool,
      statements: interceptQueries(pool, (statement) => statement.then(answered, failed)),
      begin: (...args: Parameters<Sql['begin']>) => pool.begin(...args).catch(failed),
    };
  };
  let current = start();

  const replace = () => {
    if (isEnded) return;
    const { pool } = current;
    const endLater = () => {
      former.delete(pool);
      void pool.end({ timeout: 1 });
    };
    former.set(pool, setTimeout(endLater, drainMs).unref());
    current = start();
  };

  const end: Sql['end'] = async (options) => {
    isEnded = true;
    for (const timer of former.values()) clearTimeout(timer);
    await Promise.all([current.pool, ...former.keys()].map((pool) => pool.end(options)));
  };
  const begin = (...args: Parameters<Sql['begin']>) => current.begin(...args);
  return new Proxy(current.pool, {
    apply: (_, self, args: unknown[]) =>
      Reflect.apply(current.statements as unknown as () => unknown, self, args),
    get(_, name): unknown {
      if (name === 'begin') return begin;
      return name === 'end' ? end : Reflect.get(current.pool, name);
    },
  });
};

/** An answer says which command it is of. */
const wasSent = (result: unknown): boolean =>
  !(Array.isArray(result) && 'command' in result && result.command === null);
