import { connect as connectSocket, type Socket } from 'node:net';
import postgres from 'postgres';
import { reconnectingPool } from './reconnecting-pool.ts';
import { createReadTimeout } from './read-timeout.ts';
import { connectionClosed, hasCode, lostCodes, withinConnection } from './transaction-guard.ts';

export type Sql = postgres.Sql<{ bigint: number }>;

/** A pool, or one transaction of it. */
export type Queries = postgres.ISql<{ bigint: number }>;

export interface ConnectOptions {
  /** Shown in pg_stat_activity. */
  name: string;
  /** Connections at most; for a quarter of a minute after one was lost, as many again. */
  max: number;
  /** Statements may take longer than usual, e.g. a migration's: an answer is waited for without limit. */
  patient?: boolean;
}

/**
 * The library leaves Nagle's algorithm on: a statement behind another on its connection would wait
 * for a delayed ACK. The socket is handed over while it connects, so that the library hears its
 * errors; the option is documented for tunnels, and missing in the types.
 */
const withoutDelay = (watch: (socket: Socket) => void) => ({
  socket({ host: [host], port: [port = 5432], path }: postgres.ParsedOptions) {
    const target = typeof path === 'string' ? { path } : { host, port, noDelay: true };
    const socket = connectSocket(target);
    watch(socket);
    failWithoutPostgres(socket);
    return Object.assign(socket, { host, port });
  },
});

/**
 * A proxy takes the connection and closes it where no Postgres is behind it, and a web server on a port
 * that was mistaken answers something else first. Of that the library tells nobody: it would connect
 * again at once, for ever.
 */
const failWithoutPostgres = (socket: Socket) => {
  let problem: string | undefined = 'The connection was closed before Postgres said anything';
  socket.once('data', (first: Buffer) => {
    problem = beginsLikePostgres(first) ? undefined : 'What answers there is not Postgres';
  });
  socket.once('end', () => {
    if (problem !== undefined) socket.destroy(connectionClosed(problem));
  });
};

/** With a request to sign in, an error or a version of its protocol; before TLS with one letter. */
const beginsLikePostgres = (said: Buffer): boolean =>
  /^[REv]/.test(said.toString('latin1', 0, 1)) || said.length === 1;

/**
 * Of one dimension, without nulls. The library would ask every new connection for all array types, and
 * of a Postgres that dies while it is asked nobody catches the error: the process would end.
 */
const textArray = {
  to: 1009,
  from: [1009],
  serialize: (texts: readonly string[]) =>
    `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`,
  parse: (array: string) =>
    [...array.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/gs)].map(
      ([plain, quoted]) => quoted?.replaceAll(/\\(.)/gs, '$1') ?? plain,
    ),
};

/** A pool that connects at the first query. Amounts and counts arrive as safe integers. */
export const connect = (url: string, options: ConnectOptions): Sql =>
  reconnectingPool((show) => open(url, options, show));

const open = (
  url: string,
  { name, max, patient = false }: ConnectOptions,
  show: (socket: Socket) => void,
): Sql => {
  const watch = patient ? () => {} : createReadTimeout();
  const sql: Sql = postgres(url, {
    max,
    connect_timeout: 5,
    // Seconds. The default grows to 20: those who wait would not notice that Postgres is back.
    backoff: () => 0.1 + Math.random() * 0.2,
    // Less than what a silent connection is given, see silence.ts.
    idle_timeout: 60,
    // After a failover the old name may lead to a standby for a while, and a connection that got
    // there would stay. Postgres tells by itself which it is: nothing is asked. `read-write` looks
    // at a setting alone, and takes a standby for a primary.
    target_session_attrs: 'primary',
    ...withoutDelay((socket) => {
      show(socket);
      watch(socket);
    }),
    onnotice: () => {},
    connection: {
      application_name: name,
      statement_timeout: 10_000,
      // Of a process that is suspended within a transaction: its locks, and what vacuum has to leave.
      idle_in_transaction_session_timeout: 30_000,
    },
    fetch_types: false,
    types: {
      textArray,
      bigint: {
        to: 20,
        from: [20],
        serialize: (value: number) => String(value),
        parse: (text: string) => {
          const value = Number(text);
          if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
          return value;
        },
      },
    },
  });
  const { reserve } = sql;
  const begin = withinConnection(sql.begin);
  // Without `fetch_types` the library never hands out a connection that it opens for this alone.
  return Object.assign(sql, {
    begin,
    async reserve() {
      await sql`select 1`;
      return reserve();
    },
  });
};

const tooSlow = '57014';
const connectionCodes = new Set([
  ...lostCodes,
  ...['CONNECT_TIMEOUT', 'CONNECTION_ENDED', 'ECONNREFUSED', 'NO_ANSWER'],
  // The name server knows no such name, does not answer at the moment, or failed.
  ...['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'],
  // Shutting down, crashed, starting up, too many connections; a statement took too long.
  ...['57P01', '57P02', '57P03', '53300', tooSlow],
  // It only reads: a standby, until the name leads to the new primary.
  '25006',
]);

/** Postgres is away, as opposed to having refused a statement. */
export const isAway = (error: unknown): boolean => hasCode(error, connectionCodes);

/** A statement was cut off, for want of time or by somebody's hand. */
export const isTooSlow = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === tooSlow;
