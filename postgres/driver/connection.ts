import { connect as connectSocket, type Socket } from 'node:net';
import postgres from 'postgres';
import { createReadTimeout } from './read-timeout.ts';
import { reconnectingPool } from './reconnecting-pool.ts';
import { reserveOpened } from './reserve.ts';
import type { Pool, Sql } from './sql.ts';
import { failOnStartupClose } from './startup-close.ts';
import { textArray } from './text-array.ts';
import { guardTransactions } from './transaction-guard.ts';

export interface ConnectOptions {
  /** Shown in pg_stat_activity. */
  name: string;
  /** The most connections; twice as many for 15 seconds after one was lost. */
  max: number;
  /** Queries may take any time, e.g. those of a migration: there is no read timeout. */
  patient?: boolean;
  /**
   * A connection keeps its first plan of each statement, whatever its values. By default Postgres plans the first five calls
   * of a connection anew: several ms of CPU for each payment after a calm minute, in which connections end.
   */
  keepsPlans?: boolean;
}

/** A pool that connects at the first query. Amounts and counts arrive as safe integers. */
export const connect = (url: string, options: ConnectOptions): Sql =>
  reconnectingPool((onSocket) => open(url, options, onSocket));

const open = (
  url: string,
  { name, max, patient = false, keepsPlans = false }: ConnectOptions,
  onSocket: (socket: Socket) => void,
): Sql => {
  const watch = patient ? () => {} : createReadTimeout();
  const pool: Pool = postgres(url, {
    max,
    connect_timeout: 5,
    // Seconds. The default grows to 20, and waiting callers would not notice that Postgres is back.
    backoff: () => 0.1 + Math.random() * 0.2,
    // Shorter than the read timeout of an idle connection, see read-timeout.ts.
    idle_timeout: 60,
    // After a failover the old name may lead to a standby for a while, and a connection to it would stay.
    // Postgres reports by itself which of the two it is, so this costs no query. `read-write` would look
    // at a setting only, and take a standby for a primary.
    target_session_attrs: 'primary',
    ...openSocketsWith((socket) => {
      onSocket(socket);
      watch(socket);
      failOnStartupClose(socket);
    }),
    onnotice: () => {},
    connection: {
      application_name: name,
      statement_timeout: 10_000,
      // Frees the locks of a process that was suspended inside a transaction, and the rows that vacuum
      // must keep for it.
      idle_in_transaction_session_timeout: 30_000,
      plan_cache_mode: keepsPlans ? 'force_generic_plan' : 'auto',
    },
    fetch_types: false,
    types: { textArray, bigint },
  });
  return Object.assign(pool, {
    begin: guardTransactions(pool.begin),
    reserve: reserveOpened(pool),
  });
};

/**
 * postgres.js leaves Nagle's algorithm on, so a query behind another on its connection waits for a delayed
 * ACK. The option `socket` is documented for tunnels and missing in the types. It gets the socket while it
 * connects, so postgres.js hears its errors.
 */
const openSocketsWith = (onSocket: (socket: Socket) => void) => ({
  socket({ host: [host], port: [port = 5432], path }: postgres.ParsedOptions) {
    const target = typeof path === 'string' ? { path } : { host, port, noDelay: true };
    const socket = connectSocket(target);
    onSocket(socket);
    return Object.assign(socket, { host, port });
  },
});

const bigint = {
  to: 20,
  from: [20],
  serialize: (value: number) => String(value),
  parse(text: string): number {
    const value = Number(text);
    if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
    return value;
  },
};
