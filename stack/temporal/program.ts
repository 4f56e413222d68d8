import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SetupError } from '../../process.ts';
import { takeLock } from '../lock.ts';
import type { Launch } from '../processes.ts';
import type { Terminal } from '../terminal.ts';
import { build, type GoProgram, goPrograms } from './build.ts';
import { download } from './download.ts';

export interface TemporalProgram {
  path: string;
  /** The versions of the CLI and of the server in it. */
  cli: string;
  server: string;
}

export interface FindOptions {
  TEMPORAL_CLI_PATH?: string | undefined;
  TEMPORAL_DOWNLOAD: boolean;
  CACHE_DIR?: string | undefined;
  /** The environment: its PATH is searched, and the compiler gets all of it. */
  inherited: Record<string, string>;
  terminal: Terminal;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
  downloadSite?: string;
}

/** Skipping time and the updates we use came with this server. */
const neededServer = '1.32.0';
const neededGo = '1.26.8';

/**
 * Finds the Temporal CLI, whose dev server we run: at TEMPORAL_CLI_PATH, in the cache folder, on PATH.
 * Otherwise downloads it, or builds it from Go modules, into the cache folder.
 * @throws SetupError that names the four ways
 */
export const findTemporal = async (options: FindOptions): Promise<TemporalProgram> => {
  const { TEMPORAL_CLI_PATH, TEMPORAL_DOWNLOAD: mayDownload, terminal, inherited } = options;
  if (TEMPORAL_CLI_PATH) return readNamed(TEMPORAL_CLI_PATH);
  const target = cachedProgram('temporal', options.CACHE_DIR);
  for (const path of [target, ...findOnPath('temporal', inherited['PATH'])]) {
    const found = await readUsable(path);
    if (found) return found;
  }
  return withLock(target, terminal, async () => {
    const problems: string[] = [];
    const tryTo = async (obtain: () => Promise<void>) => {
      try {
        await obtain();
        const program = await readUsable(target);
        if (!program) problems.push('the program that came is not usable');
        return program;
      } catch (error) {
        problems.push(reasonFor(error));
        return undefined;
      }
    };
    // Another process may have made it while this one waited.
    let found = await readUsable(target);
    if (!found) rmSync(target, { force: true });
    if (!found && mayDownload)
      found = await tryTo(() => download({ target, terminal, site: options.downloadSite }));
    found ??= await tryTo(() => buildWithGo(goPrograms.cli, { ...options, target }));
    if (found) return found;
    throw new SetupError(
      `There is no Temporal server to start: ${problems.join(', ')}. Any one of these helps: set TEMPORAL_CLI_PATH to a Temporal CLI with server ${neededServer} or newer; put such a "temporal" on PATH; ${
        mayDownload ? 'connect to temporal.download' : 'allow the download (TEMPORAL_DOWNLOAD=true)'
      }; install Go ${neededGo} or newer, and it is built. Or set TEMPORAL_ADDRESS to a server of yours.`,
    );
  });
};

/** The programs of Temporal's server on Postgres: the server, and the tool that makes its schema. */
export interface ServerPrograms {
  server: string;
  sqlTool: string;
}

/**
 * Finds Temporal's server programs in the cache folder, or builds them from the CLI's Go modules.
 * @throws SetupError that says what is missing
 */
export const findTemporalServer = async (
  options: Pick<FindOptions, 'CACHE_DIR' | 'inherited' | 'terminal'>,
): Promise<ServerPrograms> => {
  const find = async (program: GoProgram): Promise<string> => {
    const target = cachedProgram(program.name, options.CACHE_DIR);
    if (isProgram(target)) return target;
    await withLock(target, options.terminal, async () => {
      if (isProgram(target)) return;
      await buildWithGo(program, { ...options, target }).catch((error: unknown) => {
        throw new SetupError(
          `There is no ${program.name}: ${reasonFor(error)}. Install Go ${neededGo} or newer, and it is built.`,
          { cause: error },
        );
      });
    });
    return target;
  };
  // One after the other: what was compiled for the first is most of the second.
  const server = await find(goPrograms.server);
  return { server, sqlTool: await find(goPrograms.sqlTool) };
};

const reasonFor = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

const findOnPath = (name: string, searchPath = ''): string[] =>
  searchPath
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .filter(isProgram);

/** The path outlives the checkout. It names what the program is built from, so it is never stale. */
const cachedProgram = (name: string, cacheDir = join(homedir(), '.cache', 'payments')): string => {
  const sums = readFileSync(join(import.meta.dirname, 'go.sum'));
  const key = createHash('sha256').update(sums).digest('hex').slice(0, 16);
  return join(cacheDir, `temporal-${key}-${process.platform}-${process.arch}`, name);
};

/** One process at a time makes the program; others that need it wait. */
const withLock = async <T>(
  target: string,
  terminal: Terminal,
  work: () => Promise<T>,
): Promise<T> => {
  mkdirSync(dirname(target), { recursive: true });
  let done: (() => void) | undefined;
  for (;;) {
    const lock = takeLock(`${target}.lock`);
    if (lock) {
      done?.();
      return work().finally(lock.release);
    }
    done ??= terminal.progress('Waiting for Temporal: another process is making it.');
    await sleep(200);
  }
};

/** @throws Error with the reason */
const buildWithGo = async (
  program: GoProgram,
  { inherited: env, ...options }: Omit<FindOptions, 'TEMPORAL_DOWNLOAD'> & { target: string },
): Promise<void> => {
  const [go] = findOnPath('go', env['PATH']);
  // In `/` Go says its own version, not the one that it would fetch for a module.
  const answer = go && (await execute(go, ['version'], { env, cwd: '/' }));
  const version = /go(\d[\d.]*)/.exec(answer ?? '')?.[1];
  if (!go || !version) throw new Error('Go is not installed');
  if (!isAtLeast(version, neededGo)) throw new Error(`Go ${version} is too old`);
  await build({ ...options, go, program, env });
};

/** The output of a command; undefined when it fails. */
const execute = async (
  command: string,
  args: string[],
  options: { env: Record<string, string>; cwd?: string },
): Promise<string | undefined> => {
  const run = promisify(execFile)(command, args, { ...options, timeout: 15_000 });
  return run.then(({ stdout }) => stdout).catch(() => undefined);
};

/** Undefined when the file is not an executable Temporal CLI. */
const readProgram = async (path: string): Promise<TemporalProgram | undefined> => {
  if (!isProgram(path)) return undefined;
  const answer = await execute(path, ['--version', '--disable-config-file'], { env: {} });
  const [, cli, server] = /version (\S+) \(Server ([^,)\s]+)/.exec(answer ?? '') ?? [];
  return cli && server ? { path, cli, server } : undefined;
};

const readUsable = async (path: string): Promise<TemporalProgram | undefined> => {
  const program = await readProgram(path);
  return program && isAtLeast(program.server, neededServer) ? program : undefined;
};

const readNamed = async (path: string): Promise<TemporalProgram> => {
  const program = await readProgram(path);
  if (!program)
    throw new SetupError(
      `TEMPORAL_CLI_PATH: ${path} is not an executable Temporal CLI: correct it, or unset it to have one found.`,
    );
  if (isAtLeast(program.server, neededServer)) return program;
  throw new SetupError(
    `TEMPORAL_CLI_PATH: ${path} has Temporal server ${program.server}, needed is ${neededServer} or newer: update it, or unset it to have one found.`,
  );
};

/** Compares the numbers of two dotted versions. */
const isAtLeast = (version: string, needed: string): boolean =>
  version.localeCompare(needed, 'en', { numeric: true }) >= 0;
