import { existsSync, rmSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SetupError } from '../../process.ts';
import { historyRetention } from '../../temporal/namespace.ts';
import { searchAttributes } from '../../temporal/start-options.ts';
import { type Launch, launch, type RunningProcess } from '../processes.ts';
import { type StartLimits, watchStart } from '../starting.ts';

export interface TemporalOptions {
  /** Path of the Temporal CLI, see program.ts. */
  program: string;
  /** Undefined: in memory. The CLI never migrates it, so its name should hold the CLI's version. */
  dbFile?: string | undefined;
  port: number;
  /** Undefined: without the Web UI. */
  uiPort?: number | undefined;
  extraArgs?: string[];
  onLine?: (line: string) => void;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
  startLimits?: StartLimits;
}

export interface RunningTemporal extends RunningProcess {
  address: string;
  namespace: string;
  uiUrl: string | undefined;
}

const host = '127.0.0.1';
const namespace = 'default';

// The defaults protect a shared cluster; here one service has the server for itself.
const dynamicConfig = {
  'frontend.namespaceRPS': 50_000,
  'frontend.rps': 50_000,
  'history.rps': 50_000,
  'matching.rps': 50_000,
  'matching.persistenceMaxQPS': 50_000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // The dev server has one shard and by default reads its tasks at most 20 times a second. Under load
  // each workflow task and each activity waits 25 ms for that, and a payment has many.
  'history.transferProcessorMaxPollRPS': 200,
  // Otherwise a task that is sent to a worker just as it stops is lost until its timeout.
  'frontend.enableCancelWorkerPollsOnShutdown': true,
  // Applications take turns when tasks wait, see paymentStartOptions.
  'matching.enableFairness': true,
  // By default the dev server reads the search attributes from its database for every task, so that a
  // new one works at once. Ours exist from the start.
  'system.forceSearchAttributesCacheRefreshOnRead': false,
  // Its HTTP API has a port of its own, on which any web page could end workflows. We use gRPC.
  'frontend.httpAllowedHosts': '["none.invalid"]',
};

const environment = {
  TEMPORAL_VERSION_CHECK_DISABLED: '1',
  // A tenth faster than Go's default of 100, for 100 MB more. 1000 saves 7 % more CPU, for another 275 MB.
  GOGC: '400',
};

const pairs = (flag: string, values: Record<string, string | number | boolean>) =>
  Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);

/**
 * Starts the Temporal dev server on loopback, with our search attributes and retention.
 * @throws SetupError
 */
export const startTemporal = async (options: TemporalOptions): Promise<RunningTemporal> => {
  const { program, dbFile, port, uiPort, onLine, start = launch } = options;
  const address = `${host}:${port}`;
  const isNew = dbFile !== undefined && !existsSync(dbFile);
  const lines: string[] = [];
  const server = await start({
    name: 'temporal',
    command: program,
    args: argumentsFor(options),
    env: environment,
    stopSignals: [
      ['SIGTERM', 2000],
      ['SIGKILL', 1000],
    ],
    onLine: (line) => {
      onLine?.(line);
      if (lines.length < 100) lines.push(line);
    },
  });
  try {
    const connection = await connectTo(address, server, lines, options.startLimits);
    try {
      await setRetention(connection);
    } finally {
      await connection.close();
    }
  } catch (error) {
    await server.stop();
    // A full disk leaves half a schema, which would keep every later start from succeeding.
    if (isNew) for (const end of ['', '-wal', '-shm']) rmSync(dbFile + end, { force: true });
    if (isNew || !(error instanceof SetupError) || !/sqlite|database/i.test(error.message))
      throw error;
    throw new SetupError(
      `${error.message}; its database is ${dbFile}: without that file it begins anew, and open payments go on.`,
      { cause: error },
    );
  }
  const uiUrl = uiPort === undefined ? undefined : `http://${host}:${uiPort}`;
  return { ...server, address, namespace, uiUrl };
};

const argumentsFor = ({ dbFile, port, uiPort, extraArgs = [] }: TemporalOptions): string[] => [
  ...['server', 'start-dev', '--ip', host, '--port', String(port)],
  ...['--disable-config-file', '--log-level', 'warn', '--log-format', 'json'],
  ...(uiPort === undefined
    ? ['--headless']
    : ['--ui-port', String(uiPort), '--ui-disable-news-fetch']),
  // WAL survives a crash of the process. A power cut can take the last transactions, which heal.
  ...(dbFile === undefined
    ? []
    : [
        '--db-filename',
        dbFile,
        ...pairs('--sqlite-pragma', {
          journal_mode: 'WAL',
          synchronous: 'NORMAL',
          // In pages: a checkpoint, which copies each changed page once, after 32 MB instead of 4.
          wal_autocheckpoint: 8000,
        }),
      ]),
  // For a new database. In an existing one the worker adds what is missing.
  ...Object.values(searchAttributes).flatMap(({ name }) => [
    '--search-attribute',
    `${name}=Keyword`,
  ]),
  ...pairs('--dynamic-config-value', dynamicConfig),
  ...extraArgs,
];

/** Connects as soon as the server answers. @throws SetupError when it ends or hangs before that */
export const connectTo = (
  address: string,
  server: RunningProcess,
  lines: string[],
  startLimits?: StartLimits,
): Promise<Connection> =>
  waitFor(
    async () => {
      // gRPC waits a second after a refused connection, so it connects only once the port listens.
      if (!(await isListening(address))) return undefined;
      // It listens before it serves.
      return Connection.connect({ address, connectTimeout: 5000 }).catch(() => undefined);
    },
    server,
    lines,
    startLimits,
  );

/** Waits until the server listens there. @throws SetupError when it ends or hangs before that */
export const waitUntilListening = async (
  address: string,
  server: RunningProcess,
  lines: string[],
): Promise<void> => {
  await waitFor(async () => (await isListening(address)) || undefined, server, lines);
};

const waitFor = async <Found>(
  find: () => Promise<Found | undefined>,
  { pid, exited }: RunningProcess,
  lines: string[],
  startLimits?: StartLimits,
): Promise<Found> => {
  let end: string | undefined;
  // Its work is seen, so its lines need not count.
  const watch = watchStart(pid, startLimits);
  for (const ending of [exited, watch.hung]) void ending.then((how) => (end ??= how));
  try {
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      if (end !== undefined)
        throw new SetupError(
          `The Temporal server did not start, it ${end}: ${lines.at(-1) ?? 'no reason given'}`,
        );
      await sleep(25);
    }
  } finally {
    watch.stop();
  }
};

const isListening = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(`tcp://${address}`);
    const socket = connectSocket({ host: hostname, port: Number(port) });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Unlike the flag of start-dev this also reaches an existing database file. */
const setRetention = (connection: Connection) =>
  connection.workflowService.updateNamespace({
    namespace,
    config: { workflowExecutionRetentionTtl: msToTs(historyRetention) },
  });

/** @throws SetupError when no server answers */
export const reachTemporal = async (address: string, options: ConnectionOptions): Promise<void> => {
  try {
    const connection = await Connection.connect({ ...options, connectTimeout: 5000 });
    await connection.close();
  } catch (error) {
    throw new SetupError(
      `TEMPORAL_ADDRESS: no Temporal server answered within 5 s at ${address}: start it, correct the address (or TLS and API key), or unset it to use the embedded one.`,
      { cause: error },
    );
  }
};
