import { resolve } from 'node:path';
import type { StackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import { type ConnectionFacts, writeConnection } from './connection-file.ts';
import { openDataFolder } from './files.ts';
import { withinMs } from './launch.ts';
import { type Lock, takeLock } from './lock.ts';
import { choosePorts } from './ports.ts';
import { createProcesses } from './processes.ts';
import { application } from './seed.ts';
import {
  bringUpBundle,
  bringUpChild,
  bringUpDatabase,
  bringUpTemporal,
  type Deps,
  type Entries,
} from './services.ts';
import { createSupervisor } from './supervisor.ts';
import type { Terminal } from './terminal.ts';

export interface StackOptions {
  config: StackConfig;
  terminal: Terminal;
  entries: Entries;
  /** Called when something dies again and again. */
  giveUp: (reason: string) => void;
}

export interface Stack {
  /** @throws SetupError; `stop` is due then as well */
  start(): Promise<ConnectionFacts>;
  /** In order, within 10 s, at any stage. */
  stop(): Promise<void>;
  /** At once; the databases recover. */
  kill(): void;
}

export const createStack = ({ config, terminal, entries, giveUp }: StackOptions): Stack => {
  const folder = openDataFolder(resolve(config.DATA_DIR));
  const processes = createProcesses(folder.processes);
  const starting = new AbortController();
  const { signal } = starting;
  // What falls over because its neighbours were stopped is no news.
  const say = (line: string) => signal.aborted || terminal.say(line);
  const supervisor = createSupervisor({ say, giveUp, signal });
  const deps: Deps = {
    config,
    entries,
    folder,
    supervisor,
    signal,
    terminal: { ...terminal, say },
    onSpawn: processes.add,
  };
  let lock: Lock | undefined;
  let bringingUp: Promise<unknown> = Promise.resolve();
  return {
    async start() {
      lock = lockOrThrow(folder);
      say('Starting Postgres, Temporal, the API, the worker and the demo shop …');
      const orphans = await processes.stopOrphans();
      if (orphans > 0) say(`An earlier start had left ${orphans} processes; they are stopped.`);
      const facts = bringUp(deps, () => starting.abort());
      bringingUp = facts;
      return facts;
    },
    async stop() {
      starting.abort();
      await Promise.all(['api', 'shop'].map(supervisor.stop));
      await supervisor.stop('worker');
      // These two do not know each other.
      await Promise.all(['temporal', 'postgres'].map(supervisor.stop));
      await withinMs(
        bringingUp.catch(() => {}),
        1000,
      );
      lock?.release();
    },
    kill() {
      starting.abort();
      processes.kill();
      lock?.release();
    },
  };
};

const lockOrThrow = ({ path, lock, connection }: Deps['folder']): Lock => {
  const taken = takeLock(lock);
  if (typeof taken !== 'number') return taken;
  throw new SetupError(
    `A stack is already running on ${path} (process ${taken}): use it, its addresses are in ${connection}; or stop it with "kill ${taken}"; or set DATA_DIR and the ports for a second one.`,
  );
};

// How long each may take to stop before it is forced: in all less than 10 s.
const stopMs = { api: 2000, worker: 5500, shop: 2000 };
const needs = ['postgres', 'temporal'];
const grace = { api: '1', worker: '5' };

const bringUp = async (deps: Deps, callOff: () => void): Promise<ConnectionFacts> => {
  const { folder } = deps;
  const ports = await portsFor(deps.config);
  const apiUrl = `http://127.0.0.1:${ports.API_PORT}`;
  const shopUrl = `http://127.0.0.1:${ports.SHOP_PORT}`;
  const [database, temporal, bundle] = await together(callOff, [
    bringUpDatabase(deps, { port: ports.POSTGRES_PORT, shopUrl }),
    bringUpTemporal(deps, { port: ports.TEMPORAL_PORT, uiPort: ports.TEMPORAL_UI_PORT }),
    bringUpBundle(deps),
  ]);
  const facts: ConnectionFacts = {
    api_base_url: apiUrl,
    application,
    ...database.credentials,
    shop_url: shopUrl,
    temporal_address: temporal.address,
    temporal_namespace: temporal.namespace,
    temporal_ui_url: temporal.uiUrl ?? null,
    database_url: database.url,
    api_metrics_url: `http://127.0.0.1:${ports.API_METRICS_PORT}`,
    worker_metrics_url: `http://127.0.0.1:${ports.WORKER_METRICS_PORT}`,
    pid: process.pid,
  };
  writeConnection(folder.connection, facts);
  const env = {
    ...temporal.variables,
    DATABASE_URL: database.url,
    PUBLIC_BASE_URL: apiUrl,
    SECRETS_KEY_FILE: folder.secretsKey,
  };
  const worker = { ALLOW_LOOPBACK_TARGETS: 'true', WORKFLOW_BUNDLE: bundle };
  await together(callOff, [
    bringUpChild(deps, {
      name: 'api',
      env: {
        ...env,
        API_PORT: String(ports.API_PORT),
        METRICS_PORT: String(ports.API_METRICS_PORT),
        SHUTDOWN_GRACE_SECONDS: grace.api,
        ...(deps.config.PAYER_PAGES_PER_MINUTE && {
          PAYER_PAGES_PER_MINUTE: String(deps.config.PAYER_PAGES_PER_MINUTE),
        }),
      },
      needs,
      stopMs: stopMs.api,
    }),
    bringUpChild(deps, {
      name: 'worker',
      env: {
        ...env,
        ...worker,
        METRICS_PORT: String(ports.WORKER_METRICS_PORT),
        SHUTDOWN_GRACE_SECONDS: grace.worker,
      },
      needs,
      stopMs: stopMs.worker,
    }),
    bringUpChild(deps, { name: 'shop', args: [folder.connection], stopMs: stopMs.shop }),
  ]);
  return facts;
};

/** Fails with the first that fails, once the others have ended too: nothing goes on behind it. */
const together = async <T extends Promise<unknown>[]>(
  callOff: () => void,
  work: [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> => {
  try {
    return await Promise.all(work);
  } catch (error) {
    callOff();
    await Promise.allSettled(work);
    throw error;
  }
};

const portsFor = ({ DATABASE_URL, externalTemporal, ...config }: StackConfig) =>
  choosePorts({
    API_PORT: config.API_PORT,
    SHOP_PORT: config.SHOP_PORT,
    // For what is not started any port will do.
    POSTGRES_PORT: DATABASE_URL ? 0 : config.POSTGRES_PORT,
    TEMPORAL_PORT: externalTemporal ? 0 : config.TEMPORAL_PORT,
    TEMPORAL_UI_PORT: externalTemporal ? 0 : config.TEMPORAL_UI_PORT,
    API_METRICS_PORT: config.API_METRICS_PORT,
    WORKER_METRICS_PORT: config.WORKER_METRICS_PORT,
  });
