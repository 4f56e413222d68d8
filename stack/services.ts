import { join, resolve } from 'node:path';
import { type KeyRing, parseKeyRing, type StackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import { bundleWorkflows } from './bundle.ts';
import { startChild } from './child.ts';
import type { DataFolder } from './files.ts';
import { readSecretsKey } from './files.ts';
import type { Running } from './launch.ts';
import { type Log, openLog } from './logs.ts';
import { startPostgres } from './postgres.ts';
import { type Credentials, prepareDatabase, reachDatabase, readCredentials } from './seed.ts';
import type { Supervisor } from './supervisor.ts';
import { findTemporal } from './temporal/program.ts';
import { reachTemporal, startTemporal } from './temporal/server.ts';
import type { Terminal } from './terminal.ts';

/** The programs of ours that the stack starts, relative to the checkout. */
export interface Entries {
  api: string;
  worker: string;
  bundle: string;
  shop: string;
}

export interface Deps {
  config: StackConfig;
  entries: Entries;
  folder: DataFolder;
  terminal: Terminal;
  supervisor: Supervisor;
  onSpawn: (pid: number) => void;
  /** The start is no longer wanted. */
  signal: AbortSignal;
}

const root = resolve(import.meta.dirname, '..');

const logOf = (
  { folder, terminal }: Deps,
  name: string,
  isNoteworthy?: (line: string) => boolean,
): Log => openLog(folder.logs, name, terminal.say, isNoteworthy);

export interface Database {
  url: string;
  credentials: Credentials;
}

/** Embedded or not: its schema is up to date and the demo application is there. */
export const bringUpDatabase = async (
  deps: Deps,
  { port, shopUrl }: { port: number; shopUrl: string },
): Promise<Database> => {
  const { config, folder } = deps;
  const url = config.DATABASE_URL ?? (await keepPostgres(deps, port));
  if (config.DATABASE_URL) await reachDatabase(url);
  const keyRing = keyRingOf(folder);
  const known = readCredentials(folder.connection);
  return { url, credentials: await prepareDatabase(url, { shopUrl, keyRing, known }) };
};

const keyRingOf = (folder: DataFolder): KeyRing => {
  try {
    return parseKeyRing(readSecretsKey(folder));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    throw new SetupError(
      `${folder.secretsKey} is damaged: put back what it held, or remove it and the demo application gets new credentials.`,
      { cause: error },
    );
  }
};

const keepPostgres = async (deps: Deps, port: number): Promise<string> => {
  const { folder, supervisor, onSpawn } = deps;
  // What a statement did wrong its client is told; a crash concerns the reader as well.
  const { write: onLine } = logOf(deps, 'postgres', (line) => line.includes('PANIC:'));
  const dataDir = join(folder.path, 'postgres');
  const { url } = await supervisor.keep({
    name: 'postgres',
    start: (signal) => startPostgres({ dataDir, port, onSpawn, onLine, signal }),
  });
  return url;
};

export interface Temporal {
  address: string;
  namespace: string;
  uiUrl: string | undefined;
  /** For those who connect to it. */
  variables: Record<string, string>;
}

/** Embedded or not: it answers. What the service needs in it, the worker makes. */
export const bringUpTemporal = async (
  deps: Deps,
  ports: { port: number; uiPort: number },
): Promise<Temporal> => {
  const { config, folder, supervisor, terminal, signal, onSpawn } = deps;
  if (config.externalTemporal) return useTemporal(deps, config.externalTemporal);
  const program = await findTemporal({ ...config, terminal, onSpawn, signal });
  signal.throwIfAborted();
  // It warns much while it starts and stops, and nothing of that needs anybody.
  const { write: onLine } = logOf(deps, 'temporal', (line) =>
    /"level":"(FATAL|PANIC)"/i.test(line),
  );
  const dbFile = join(folder.path, `temporal-${program.cli}.db`);
  const server = await supervisor.keep({
    name: 'temporal',
    start: () =>
      startTemporal({ ...ports, program: program.path, dbFile, onLine, onSpawn, signal }),
  });
  const { address, namespace, uiUrl } = server;
  const variables = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  return { address, namespace, uiUrl, variables };
};

const useTemporal = async (
  { config }: Deps,
  external: NonNullable<StackConfig['externalTemporal']>,
): Promise<Temporal> => {
  const { connectionOptions, namespace, variables } = external;
  const address = config.TEMPORAL_ADDRESS ?? '';
  await reachTemporal(address, connectionOptions);
  return { address, namespace, uiUrl: undefined, variables };
};

/** What our own programs get of the surroundings. */
const inheritedOf = ({ config }: Deps): Record<string, string> =>
  Object.fromEntries(Object.entries(config.inherited).filter(([name]) => !name.startsWith('GO')));

/** @returns the path of the workflow bundle */
export const bringUpBundle = (deps: Deps): Promise<string> =>
  bundleWorkflows({
    root,
    folder: join(deps.folder.path, 'bundles'),
    entry: deps.entries.bundle,
    env: inheritedOf(deps),
    log: logOf(deps, 'bundle'),
    terminal: deps.terminal,
    onSpawn: deps.onSpawn,
    signal: deps.signal,
  });

export interface Child {
  name: 'api' | 'worker' | 'shop';
  args?: string[];
  env?: Record<string, string>;
  needs?: string[];
  stopMs: number;
}

export const bringUpChild = async (
  deps: Deps,
  { name, args = [], env, needs = [], stopMs }: Child,
): Promise<Running> => {
  const { config, entries, supervisor, onSpawn } = deps;
  deps.signal.throwIfAborted();
  const log = logOf(deps, name);
  return supervisor.keep({
    name,
    needs,
    start: (signal) =>
      startChild({
        name,
        args: [resolve(root, entries[name]), ...args],
        env: {
          ...inheritedOf(deps),
          // Without it each process keeps the compiler that takes the types away: 20 MB.
          NODE_COMPILE_CACHE: join(deps.folder.path, 'compile-cache'),
          // Memory that one thread gave back is there for the others: 10 MB.
          MALLOC_ARENA_MAX: '2',
          LOG_LEVEL: config.LOG_LEVEL,
          ...env,
        },
        stopMs,
        log,
        onSpawn,
        signal,
      }),
  });
};
