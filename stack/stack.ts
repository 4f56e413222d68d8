import { join, relative, resolve } from 'node:path';
import { createChange } from '../admin/operations/change.ts';
import { timeSkipping } from '../temporal/skip-time.ts';
import { createConsoleLogins } from '../admin/operations/console-logins.ts';
import type { StackConfig } from '../config.ts';
import { connect } from '../postgres/driver/connection.ts';
import { SetupError } from '../process.ts';
import { type ConnectionFile, readCredentials, writeConnection } from './connection-file.ts';
import { type DataFolder, makeKeys, openDataFolder, readKeyRing } from './data-folder.ts';
import { application, prepareDatabase, reachDatabase } from './demo-application.ts';
import { type Lock, takeLock } from './lock.ts';
import { openLog } from './logs.ts';
import { choosePorts } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { createProcessTable, type ProcessTable } from './process-table.ts';
import { type ProgramOptions, type RunningProcess, startProgram } from './processes.ts';
import { findTemporal } from './temporal/program.ts';
import { reachTemporal, startTemporal } from './temporal/server.ts';
import { openUiDoor } from './temporal/ui-door.ts';
import type { Terminal } from './terminal.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

/** The programs of ours that the stack starts, relative to the checkout. */
export interface Programs {
  api: string;
  worker: string;
  shop: string;
  console: string;
  bundle: string;
}

export interface StackOptions {
  config: StackConfig;
  programs: Programs;
  terminal: Terminal;
  /** Called when one of the processes ends without being stopped. */
  onDeath: (reason: string) => void;
}

export interface Stack {
  /** @throws SetupError; `stop` is needed then too */
  start(): Promise<ConnectionFile>;
  /** A link that logs an admin in to the console, once. */
  consoleLink(connection: ConnectionFile): Promise<string>;
  /** Stops everything in order, at any stage of the start. */
  stop(): Promise<void>;
  /** Kills everything at once. The databases recover at the next start. */
  kill(): void;
}

/** The shop takes the mails of the service. */
const mailbox = '127.0.0.1';

const root = resolve(import.meta.dirname, '..');

export const createStack = (options: StackOptions): Stack => {
  const folder = openDataFolder(resolve(options.config.DATA_DIR));
  const processes = createProcessTable(folder.processes);
  let lock: Lock | undefined;
  return {
    async start() {
      lock = takeLock(folder.lock);
      if (!lock)
        throw new SetupError(
          `A stack is already running on ${folder.path}: use it, its addresses are in ${folder.connection}; or stop it with Ctrl-C in its terminal; or set DATA_DIR and the ports for a second one.`,
        );
      const orphans = await processes.stopOrphans();
      if (orphans > 0) options.terminal.say(`Stopped ${orphans} processes of an earlier start.`);
      return startAll({ ...options, folder, processes });
    },
    consoleLink: makeConsoleLink,
    async stop() {
      processes.close();
      const last = ['worker', 'postgres', 'temporal'];
      await processes.stop((name) => !last.includes(name));
      await processes.stop((name) => name === 'worker');
      await processes.stop(() => true);
      lock?.release();
    },
    kill() {
      processes.close();
      processes.kill();
      lock?.release();
    },
  };
};

interface Context extends StackOptions {
  folder: DataFolder;
  processes: ProcessTable;
}

const startAll = async (context: Context): Promise<ConnectionFile> => {
  const { config, folder } = context;
  const ports = await choosePorts({
    API_PORT: config.API_PORT,
    SHOP_PORT: config.SHOP_PORT,
    CONSOLE_PORT: config.CONSOLE_PORT,
    // Any port will do for a server that is not started.
    POSTGRES_PORT: config.DATABASE_URL ? 0 : config.POSTGRES_PORT,
    TEMPORAL_PORT: config.externalTemporal ? 0 : config.TEMPORAL_PORT,
    TEMPORAL_UI_PORT: config.externalTemporal ? 0 : config.TEMPORAL_UI_PORT,
    API_METRICS_PORT: config.API_METRICS_PORT,
    WORKER_METRICS_PORT: config.WORKER_METRICS_PORT,
    SMTP_PORT: 0,
  });
  const urlOf = (name: keyof typeof ports) => `http://127.0.0.1:${ports[name]}`;
  const [database, temporal, bundle] = await Promise.all([
    bringUpDatabase(context, { port: ports.POSTGRES_PORT, shopUrl: urlOf('SHOP_PORT') }),
    bringUpTemporal(context, { port: ports.TEMPORAL_PORT, uiPort: ports.TEMPORAL_UI_PORT }),
    bringUpBundle(context),
  ]);
  const connection: ConnectionFile = {
    api_base_url: urlOf('API_PORT'),
    application,
    ...database.credentials,
    shop_url: urlOf('SHOP_PORT'),
    // A name of its own: cookies know no ports, and the shop's pages must not get the console's.
    console_url: `http://console.localhost:${ports.CONSOLE_PORT}`,
    smtp_port: ports.SMTP_PORT,
    temporal_address: temporal.address,
    temporal_namespace: temporal.namespace,
    temporal_ui_url: temporal.uiUrl ?? null,
    database_url: database.url,
    api_metrics_url: urlOf('API_METRICS_PORT'),
    worker_metrics_url: urlOf('WORKER_METRICS_PORT'),
    pid: process.pid,
  };
  writeConnection(folder.connection, connection);

  const env = {
    ...temporal.variables,
    DATABASE_URL: database.url,
    PUBLIC_BASE_URL: connection.api_base_url,
  };
  const payerPages = config.PAYER_PAGES_PER_MINUTE;
  // In all, stopping takes less than 10 s, which is what Docker gives a container.
  await Promise.all([
    bringUpProgram(context, {
      name: 'api',
      env: {
        ...env,
        NOTIFICATIONS_KEY_FILE: folder.notificationsKey,
        PAYERS_KEY_FILE: folder.payersKey,
        API_PORT: String(ports.API_PORT),
        METRICS_PORT: String(ports.API_METRICS_PORT),
        SHUTDOWN_GRACE_SECONDS: '1',
        ...(payerPages && { PAYER_PAGES_PER_MINUTE: String(payerPages) }),
      },
      stopMs: 2000,
    }),
    bringUpProgram(context, {
      name: 'worker',
      env: {
        ...env,
        SECRETS_KEY_FILE: folder.secretsKey,
        WEBHOOKS_KEY_FILE: folder.webhooksKey,
        PAYERS_KEY_FILE: folder.payersKey,
        ALLOW_LOOPBACK_TARGETS: 'true',
        CONSOLE_BASE_URL: connection.console_url,
        SMTP_HOST: mailbox,
        SMTP_PORT: String(ports.SMTP_PORT),
        SMTP_FROM: 'payments@localhost',
        WORKFLOW_BUNDLE: bundle,
        METRICS_PORT: String(ports.WORKER_METRICS_PORT),
        SHUTDOWN_GRACE_SECONDS: '5',
      },
      stopMs: 5500,
    }),
    bringUpProgram(context, {
      name: 'console',
      env: {
        ...env,
        SECRETS_KEY_FILE: folder.secretsKey,
        WEBHOOKS_KEY_FILE: folder.webhooksKey,
        NOTIFICATIONS_KEY_FILE: folder.notificationsKey,
        ALLOW_LOOPBACK_TARGETS: 'true',
        CONSOLE_PORT: String(ports.CONSOLE_PORT),
        CONSOLE_BASE_URL: connection.console_url,
        PUBLIC_BASE_URL: connection.api_base_url,
        SMTP_HOST: mailbox,
        SHUTDOWN_GRACE_SECONDS: '1',
        SKIP_TIME: String(!config.externalTemporal),
        ...(connection.temporal_ui_url && { TEMPORAL_UI_URL: connection.temporal_ui_url }),
      },
      stopMs: 2000,
    }),
    bringUpProgram(context, { name: 'shop', args: [folder.connection], stopMs: 2000 }),
  ]);
  return connection;
};

const makeConsoleLink = async ({ database_url, console_url }: ConnectionFile): Promise<string> => {
  const sql = connect(database_url, { name: 'payments-stack', max: 1 });
  const actor = 'npm start';
  const change = createChange({ sql, actor, via: 'cli' });
  try {
    const logins = createConsoleLogins({ sql, change, actor, consoleUrl: console_url });
    return (await logins.issueLink({ role: 'admin' }, { name: 'admin' })).url;
  } finally {
    await sql.end({ timeout: 1 });
  }
};

/** Ends the stack when the process ends. */
const watch = ({ folder, onDeath }: Context, { name, exited }: RunningProcess) => {
  const log = relative(process.cwd(), join(folder.logs, `${name}.log`));
  void exited.then((how) => onDeath(`${name} ${how}; see ${log}; run npm start again`));
};

/** Embedded or not: its schema is up to date, and the demo application exists. */
const bringUpDatabase = async (
  context: Context,
  { port, shopUrl }: { port: number; shopUrl: string },
) => {
  const { config, folder, terminal } = context;
  const url = config.DATABASE_URL ?? (await bringUpPostgres(context, port));
  if (config.DATABASE_URL) await reachDatabase(url);
  const keyRing = readKeyRing(folder);
  makeKeys(folder);
  const known = readCredentials(folder.connection);
  const credentials = await terminal.step('Bringing the schema up to date', () =>
    prepareDatabase(url, { shopUrl, keyRing, known }),
  );
  return { url, credentials };
};

const bringUpPostgres = async (context: Context, port: number): Promise<string> => {
  const { folder, processes, terminal } = context;
  const postgres = await terminal.step('Starting Postgres', () =>
    startPostgres({
      dataDir: join(folder.path, 'postgres'),
      port,
      onLine: openLog(folder.logs, 'postgres').write,
      start: processes.start,
    }),
  );
  watch(context, postgres);
  return postgres.url;
};

/** Embedded or not: it answers. The worker makes what the service needs in it. */
const bringUpTemporal = async (context: Context, ports: { port: number; uiPort: number }) => {
  const { config, folder, processes, terminal } = context;
  if (config.externalTemporal) {
    const { connectionOptions, namespace, variables } = config.externalTemporal;
    const address = config.TEMPORAL_ADDRESS ?? '';
    await reachTemporal(address, connectionOptions);
    return { address, namespace, uiUrl: undefined, variables };
  }
  const program = await findTemporal({ ...config, terminal, start: processes.start });
  const { url: uiUrl, ui } = await openUiDoor(ports.uiPort);
  const temporal = await terminal.step('Starting Temporal', () =>
    startTemporal({
      port: ports.port,
      uiPort: ui.port,
      extraArgs: ['--ui-ip', ui.host, ...timeSkipping],
      program: program.path,
      dbFile: join(folder.temporal, `${program.cli}.db`),
      onLine: openLog(folder.logs, 'temporal').write,
      start: processes.start,
    }),
  );
  watch(context, temporal);
  const { address, namespace } = temporal;
  const variables = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  return { address, namespace, uiUrl, variables };
};

/** The variables of the user's environment that our own programs need. pip's may hold a password. */
const inheritedEnv = ({ config }: Context): Record<string, string> =>
  Object.fromEntries(Object.entries(config.inherited).filter(([name]) => !/^(GO|PIP_)/.test(name)));

const bringUpBundle = (context: Context): Promise<string> =>
  bundleWorkflows({
    root,
    folder: context.folder.bundles,
    entry: context.programs.bundle,
    env: inheritedEnv(context),
    log: openLog(context.folder.logs, 'bundle'),
    terminal: context.terminal,
    start: context.processes.start,
  });

interface OwnProgram {
  name: 'api' | 'worker' | 'shop' | 'console';
  args?: string[];
  env?: Record<string, string>;
  stopMs: number;
}

const bringUpProgram = async (
  context: Context,
  { name, args = [], env, stopMs }: OwnProgram,
): Promise<void> => {
  const { config, folder, programs, processes, terminal } = context;
  const options: ProgramOptions = {
    name,
    args: [resolve(root, programs[name]), ...args],
    env: {
      ...inheritedEnv(context),
      // Without it each process keeps the compiler that strips the types: 20 MB.
      NODE_COMPILE_CACHE: folder.compileCache,
      // Threads share the memory that one of them has freed: 10 MB.
      MALLOC_ARENA_MAX: '2',
      LOG_LEVEL: config.LOG_LEVEL,
      ...env,
    },
    stopMs,
    log: openLog(folder.logs, name, terminal.say),
    start: processes.start,
  };
  const program = await terminal.step(`Starting ${name}`, () => startProgram(options));
  watch(context, program);
};
