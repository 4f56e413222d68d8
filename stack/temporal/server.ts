import { existsSync, rmSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SetupError } from '../../process.ts';
import { historyRetention } from '../../temporal/namespace.ts';
import { searchAttributes } from '../../temporal/start-options.ts';
import { type Launched, launch, type Running } from '../launch.ts';

export interface TemporalOptions {
  /** Path of the Temporal CLI, see program.ts. */
  program: string;
  /** Undefined: in memory. The schema is never migrated, so its name holds the CLI's version. */
  dbFile?: string | undefined;
  port: number;
  /** Undefined: without the Web UI. */
  uiPort?: number | undefined;
  extraArgs?: string[];
  onLine?: (line: string) => void;
  onSpawn?: (pid: number) => void;
  signal?: AbortSignal;
}

export interface RunningTemporal extends Running {
  address: string;
  namespace: string;
  uiUrl: string | undefined;
}

const host = '127.0.0.1';
const namespace = 'default';
const startTimeoutMs = 60_000;

const stopSignals: [NodeJS.Signals, number][] = [
  ['SIGTERM', 2000],
  ['SIGKILL', 1000],
];

// The limits protect a shared cluster; here one service has it for itself.
const dynamicConfig = {
  'frontend.namespaceRPS': 50_000,
  'frontend.rps': 50_000,
  'history.rps': 50_000,
  'matching.rps': 50_000,
  'matching.persistenceMaxQPS': 50_000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.enableActivityEagerExecution': true,
  // The dev server has one shard, whose tasks are read 20 times a second at most by default: under load
  // each workflow task and each activity waits 25 ms for that, and a payment has many.
  'history.transferProcessorMaxPollRPS': 200,
  // Else a task that is handed to a worker just as it stops is missed until its timeout.
  'frontend.enableCancelWorkerPollsOnShutdown': true,
  // Applications take turns where tasks wait, see paymentStartOptions.
  'matching.enableFairness': true,
  // The dev server reads them from its database for every task, lest somebody who adds one has to wait
  // two seconds for it. Ours stand from its first moment.
  'system.forceSearchAttributesCacheRefreshOnRead': false,
};

const environment = {
  TEMPORAL_VERSION_CHECK_DISABLED: '1',
  // A tenth faster than Go's default of 100, for 100 MB more.
  GOGC: '400',
};

const pairs = (flag: string, values: Record<string, string | number | boolean>) =>
  Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);

/**
 * Brings up the Temporal dev server on loopback with our search attributes and retention.
 * @throws SetupError
 */
export const startTemporal = async (options: TemporalOptions): Promise<RunningTemporal> => {
  const address = `${host}:${options.port}`;
  const { dbFile } = options;
  const isNew = dbFile !== undefined && !existsSync(dbFile);
  const lines: string[] = [];
  const server = await launch({
    command: options.program,
    args: argumentsOf(options),
    env: environment,
    onSpawn: options.onSpawn,
    onLine: (line) => {
      options.onLine?.(line);
      if (lines.length < 100) lines.push(line);
    },
  });
  const stop = () => server.end(stopSignals);
  try {
    const connection = await connectTo(address, server, lines, options.signal);
    try {
      await setRetention(connection);
    } finally {
      await connection.close();
    }
  } catch (error) {
    await stop();
    if (!isNew) throw error instanceof SetupError ? withWayOut(error, options) : error;
    // Half a schema, as a full disk leaves one, would keep every later start from succeeding.
    for (const end of ['', '-wal', '-shm']) rmSync(dbFile + end, { force: true });
    throw error;
  }
  const uiUrl = options.uiPort === undefined ? undefined : `http://${host}:${options.uiPort}`;
  return { pid: server.pid, exited: server.exited, stop, address, namespace, uiUrl };
};

const withWayOut = (error: SetupError, { dbFile }: TemporalOptions): SetupError =>
  dbFile !== undefined && /sqlite|database/i.test(error.message)
    ? new SetupError(
        `${error.message}; its database is ${dbFile}: without that file it begins anew, and open payments go on.`,
      )
    : error;

const argumentsOf = ({ dbFile, port, uiPort, extraArgs = [] }: TemporalOptions): string[] => [
  ...['server', 'start-dev', '--ip', host, '--port', String(port)],
  ...['--disable-config-file', '--log-level', 'warn', '--log-format', 'json'],
  ...(uiPort === undefined
    ? ['--headless']
    : ['--ui-port', String(uiPort), '--ui-disable-news-fetch']),
  // WAL survives a crash of the process; a power cut may take the last transactions, which heal.
  ...(dbFile === undefined
    ? []
    : [
        '--db-filename',
        dbFile,
        ...pairs('--sqlite-pragma', {
          journal_mode: 'WAL',
          synchronous: 'NORMAL',
          // Pages: 32 MB instead of 4, after which it copies what has changed, each page once.
          wal_autocheckpoint: 8000,
        }),
      ]),
  // For a new database; in one that exists the worker adds what is missing.
  ...Object.values(searchAttributes).flatMap(({ name }) => [
    '--search-attribute',
    `${name}=Keyword`,
  ]),
  ...pairs('--dynamic-config-value', dynamicConfig),
  ...extraArgs,
];

/** Once it serves. @throws SetupError when it ends before that */
export const connectTo = async (
  address: string,
  { exited }: Launched,
  lines: string[],
  signal?: AbortSignal,
): Promise<Connection> => {
  let ended: string | undefined;
  void exited.then((how) => (ended = how));
  for (const until = Date.now() + startTimeoutMs; ; await sleep(25)) {
    signal?.throwIfAborted();
    if (ended !== undefined)
      throw new SetupError(
        `The Temporal server did not start, it ${ended}: ${lines.at(-1) ?? 'no reason given'}`,
      );
    // gRPC waits a second after a connection that was refused, so it begins when somebody listens.
    if (await isListening(address))
      try {
        return await Connection.connect({ address, connectTimeout: 5000 });
      } catch {
        // It listens before it serves.
      }
    if (Date.now() > until)
      throw new SetupError('The Temporal server did not answer within a minute.');
  }
};

const isListening = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(`tcp://${address}`);
    const socket = connectSocket({ host: hostname, port: Number(port) });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Unlike the flag of start-dev this also reaches a database file that exists. */
const setRetention = (connection: Connection) =>
  connection.workflowService.updateNamespace({
    namespace,
    config: { workflowExecutionRetentionTtl: msToTs(historyRetention) },
  });

/** @throws SetupError when nobody answers there */
export const reachTemporal = async (address: string, options: ConnectionOptions): Promise<void> => {
  try {
    const connection = await Connection.connect({ ...options, connectTimeout: 5000 });
    await connection.close();
  } catch (error) {
    throw new SetupError(
      `TEMPORAL_ADDRESS: no Temporal server answers at ${address}: start it, correct the address (or TLS and API key), or unset it to use the embedded one.`,
      { cause: error },
    );
  }
};
