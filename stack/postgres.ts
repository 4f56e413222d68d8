import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
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
import { commandLineOf, identify, isAlive } from './identity.ts';
import { type Launched, launch, onAbort, type Running } from './launch.ts';
import { findPostgres, placeData, type PostgresProgram } from './postgres-program.ts';

export interface PostgresOptions {
  dataDir: string;
  port: number;
  /** `-c name=value`, e.g. `{ fsync: 'off' }` where nothing has to last. */
  settings?: Record<string, string>;
  onLine?: (line: string) => void;
  onSpawn?: (pid: number) => void;
  signal?: AbortSignal;
}

export interface RunningPostgres extends Running {
  /** Of the database `payments`. */
  url: string;
}

const startTimeoutMs = 60_000;
const database = 'payments';

// Fast shutdown, immediate shutdown, the end.
const stopSignals: [NodeJS.Signals, number][] = [
  ['SIGINT', 3000],
  ['SIGQUIT', 1000],
  ['SIGKILL', 1000],
];

/**
 * Brings up a Postgres of our own on loopback, without a password, and its database `payments`.
 * A Postgres that a killed process left on the same folder is stopped first.
 * @throws SetupError
 */
export const startPostgres = async (options: PostgresOptions): Promise<RunningPostgres> => {
  const program = findPostgres();
  const dataDir = placeData(options.dataDir, program.user);
  if (!existsSync(dataDir)) createCluster(program, dataDir);
  await stopOrphan(dataDir);
  const server = await launchServer(program, dataDir, options);
  const stop = () => server.end(stopSignals);
  try {
    const url = `postgres://postgres@127.0.0.1:${options.port}`;
    await createDatabase(`${url}/postgres`);
    return { pid: server.pid, exited: server.exited, stop, url: `${url}/${database}` };
  } catch (error) {
    await stop();
    throw error;
  }
};

// With an empty environment initdb would choose SQL_ASCII.
const environment = { LC_ALL: 'C.UTF-8', TZ: 'UTC' };

/**
 * Made beside its place and moved there whole: a start that was killed leaves no half of one. In a folder
 * of its own, as an initdb that outlived such a start still writes into the former, and empties it.
 */
const createCluster = ({ native, user }: PostgresProgram, dataDir: string) => {
  mkdirSync(dirname(dataDir), { recursive: true });
  const partial = mkdtempSync(`${dataDir}.partial-`);
  if (user) chownSync(partial, user.uid, user.gid);
  const made = spawnSync(
    join(native, 'bin', 'initdb'),
    [
      ...['-D', partial, '-U', 'postgres', '--auth=trust', '-E', 'UTF8'],
      ...['--locale-provider=builtin', '--locale=C.UTF-8'],
    ],
    { ...user, cwd: '/', env: environment, encoding: 'utf8', timeout: startTimeoutMs },
  );
  if (made.status !== 0)
    throw new SetupError(
      `Postgres could not make its data folder ${dataDir}: ${made.error?.message ?? causeOf(made.stderr)}`,
    );
  renameSync(partial, dataDir);
  for (const name of readdirSync(dirname(dataDir)))
    if (name.startsWith(`${basename(dataDir)}.partial`))
      rmSync(join(dirname(dataDir), name), { recursive: true, force: true, maxRetries: 10 });
};

/** With what stands before it: the time and the process. */
const severity = /^.*?(FATAL|PANIC|error): +/;

/** What initdb says last is that it takes away what it has made. */
const causeOf = (text: string): string => {
  const lines = text.trim().split('\n');
  const [cause = lines.at(-1)] = lines.filter((line) => severity.test(line));
  return cause?.replace(severity, '') ?? '';
};

/** Line 1 of postmaster.pid is the process; the file outlives a Postgres that was killed. */
const stopOrphan = async (dataDir: string) => {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  // Postgres would ask the user to remove a file that a crash has left empty.
  if (!(pid > 0)) return rmSync(file);
  const orphan = identify(pid);
  if (!isAlive(orphan)) return;
  if (!commandLineOf(orphan.pid).includes(dataDir)) {
    // The number belongs to somebody else by now, and Postgres would not start. Not removed: the
    // file also leads Postgres to server processes that outlived their postmaster.
    writeFileSync(file, [2 ** 31 - 1, ...lines.slice(1)].join('\n'));
    return;
  }
  for (const [signal, waitMs] of stopSignals) {
    process.kill(orphan.pid, signal);
    for (const until = Date.now() + waitMs; Date.now() < until; await sleep(20))
      if (!isAlive(orphan)) return;
  }
};

/** What stands in the way for a moment only: processes of a killed Postgres that still end. */
const passes = /still in use|starting up|lock file .* already exists/;

const launchServer = async (
  program: PostgresProgram,
  dataDir: string,
  options: PostgresOptions,
): Promise<Launched> => {
  for (const until = Date.now() + 5000; ; await sleep(100)) {
    const lines: string[] = [];
    const launched = await launchOnce(program, dataDir, options, lines);
    if (launched) return launched;
    options.signal?.throwIfAborted();
    const reason =
      lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? lines.at(-1) ?? 'no reason given';
    if (Date.now() > until || !passes.test(lines.join('\n')))
      throw new SetupError(
        `The embedded Postgres did not start (${reason.replace(severity, '')}); its data is in ${dirname(dataDir)}: mend that, or set DATA_DIR to another folder.`,
      );
  }
};

const launchOnce = async (
  { native, user }: PostgresProgram,
  dataDir: string,
  { port, settings, onLine, onSpawn, signal }: PostgresOptions,
  lines: string[],
): Promise<Launched | undefined> => {
  const ready = Promise.withResolvers<boolean>();
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const launched = await launch({
    command: join(native, 'bin', 'postgres'),
    args: [
      ...['-D', dataDir, '-p', String(port)],
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: environment,
    cwd: '/',
    ...user,
    onSpawn,
    onLine: (line) => {
      onLine?.(line);
      if (lines.length < 100) lines.push(line);
      if (line.includes('ready to accept connections')) ready.resolve(true);
    },
  });
  void launched.exited.then(() => ready.resolve(false));
  const giveUp = () => ready.resolve(false);
  const timer = setTimeout(giveUp, startTimeoutMs);
  const forget = onAbort(signal, giveUp);
  const isReady = await ready.promise;
  clearTimeout(timer);
  forget();
  if (isReady && !signal?.aborted) return launched;
  await launched.end(stopSignals);
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
