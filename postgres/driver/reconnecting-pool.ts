import type { Socket } from 'node:net';
import { connectionClosed, isConnectionLost } from './error-codes.ts';
import { interceptQueries } from './intercept-queries.ts';
import type { BeginArguments, Sql } from './sql.ts';

/*
 * Symptom: postgres.js keeps the state of a connection that it has lost. The first query after the
 * reconnect fails with the old error and was never sent. A query that arrives between the socket's `error`
 * and its `close` is never answered and takes the connection with it; or it resolves to an empty result,
 * as if it had been carried out.
 * Upstream: https://github.com/porsager/postgres/pull/1215 (the comments describe the stale state after a
 * reset), …/pull/1142.
 * Remove when: both are released. test/integration/postgres/driver/reconnecting-pool.test.ts must pass
 * without this file.
 */

/** Longer than statement_timeout, 10 s: every query of the old pool has ended by then. */
const drainMs = 15_000;

/**
 * A pool that replaces itself: once a connection is lost, all further queries go to a new pool, and the
 * old one ends after its queries.
 * @param open makes a pool, and passes each of its sockets to `onSocket`
 */
export const reconnectingPool = (open: (onSocket: (socket: Socket) => void) => Sql): Sql => {
  const draining = new Map<Sql, NodeJS.Timeout>();
  let isEnded = false;

  const start = () => {
    const sockets = new Set<Socket>();
    let hasAnswered = false;
    const updateSockets = () => {
      for (const socket of sockets) {
        hasAnswered ||= socket.bytesRead > 0;
        if (socket.destroyed) sockets.delete(socket);
      }
    };
    // A pool that never got an answer has no stale state. Replacing it would make a pool for each query
    // while Postgres is unavailable.
    const onLost = () => {
      updateSockets();
      if (hasAnswered && pool === current.pool) replace();
    };
    const pool = open((socket) => {
      updateSockets();
      sockets.add(socket);
      // Runs before postgres.js's own listener. Under TLS the listener is removed: then `onError` notices.
      socket.once('error', onLost);
    });
    const onError = (error: unknown): never => {
      if (isConnectionLost(error)) onLost();
      throw error;
    };
    const onResult = (result: unknown) =>
      wasSent(result) ? result : onError(connectionClosed('The query was never sent'));
    return {
      pool,
      queries: interceptQueries(pool, (run) => run().then(onResult, onError)),
      begin: <T>(...args: BeginArguments<T>) => pool.begin(...args).catch(onError),
    };
  };
  let current = start();

  const replace = () => {
    if (isEnded) return;
    const { pool } = current;
    const end = () => {
      draining.delete(pool);
      void pool.end({ timeout: 1 });
    };
    draining.set(pool, setTimeout(end, drainMs).unref());
    current = start();
  };

  const begin = <T>(...args: BeginArguments<T>) => current.begin(...args);
  const end: Sql['end'] = async (options) => {
    isEnded = true;
    for (const timer of draining.values()) clearTimeout(timer);
    await Promise.all([current.pool, ...draining.keys()].map((pool) => pool.end(options)));
  };
  return new Proxy(current.pool, {
    apply: (_, self, args: unknown[]): unknown => Reflect.apply(current.queries, self, args),
    get(_, name): unknown {
      if (name === 'begin') return begin;
      return name === 'end' ? end : Reflect.get(current.pool, name);
    },
  });
};

/** The result of a query that was carried out names its command. */
const wasSent = (result: unknown): boolean =>
  !(Array.isArray(result) && 'command' in result && result.command === null);
