import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { SetupError } from '../../process.ts';
import type { Terminal } from '../terminal.ts';
import { build, type GetOptions, goAt, neededGo, type Package, packages } from './build.ts';
import { download } from './download.ts';
import { isAtLeast, type TemporalVersion, versionOf } from './version.ts';

export interface TemporalProgram extends TemporalVersion {
  path: string;
}

export interface FindOptions {
  TEMPORAL_CLI_PATH?: string | undefined;
  TEMPORAL_DOWNLOAD: boolean;
  CACHE_DIR?: string | undefined;
  /** Its PATH is searched; the compiler and the download get all of it. */
  inherited: Record<string, string>;
  terminal: Terminal;
  onSpawn?: (pid: number) => void;
  signal?: AbortSignal;
}

/** Skipping time and the updates we use came with this server. */
const neededServer = '1.32.0';

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

const onPath = (name: string, searchPath = ''): string[] =>
  searchPath
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .filter(isProgram);

/**
 * Finds the Temporal CLI, whose dev server we run: TEMPORAL_CLI_PATH, what an earlier start kept in
 * the cache folder, PATH, a download, a build from Go modules.
 * @throws SetupError that names the four ways
 */
export const findTemporal = async (options: FindOptions): Promise<TemporalProgram> => {
  const { TEMPORAL_CLI_PATH, terminal, inherited } = options;
  if (TEMPORAL_CLI_PATH) return named(TEMPORAL_CLI_PATH);

  const cached = cachedProgram('temporal', options.CACHE_DIR);
  const known = await usable(cached);
  if (known) return known;
  for (const path of onPath('temporal', inherited['PATH'])) {
    const found = await usable(path);
    if (found) return found;
  }
  const get = {
    target: cached,
    env: inherited,
    terminal,
    onSpawn: options.onSpawn,
    signal: options.signal,
  };
  const problems: string[] = [];
  options.signal?.throwIfAborted();
  if (options.TEMPORAL_DOWNLOAD) {
    mkdirSync(join(cached, '..'), { recursive: true });
    const problem = await download(get);
    const found = await usable(cached);
    if (found) return found;
    problems.push(`the download failed (${problem ?? 'what came is not usable'})`);
    options.signal?.throwIfAborted();
  }
  // What is there and not usable was damaged: it would be taken for what another start has built.
  if (isProgram(cached) && !(await usable(cached))) rmSync(cached, { force: true });
  const problem = await buildWithGo(get, packages.cli);
  const found = await usable(cached);
  if (found) return found;
  problems.push(problem ?? 'the build failed (what came is not usable)');
  throw new SetupError(noWay(problems, options.TEMPORAL_DOWNLOAD));
};

/** Of the production shape: the server on Postgres, and the tool that brings its schema there. */
export interface ServerPrograms {
  server: string;
  sqlTool: string;
}

/**
 * The programs of Temporal's server, from the cache folder or built from the same Go modules as the CLI.
 * @throws SetupError that says what is missing
 */
export const findTemporalServer = async ({
  CACHE_DIR,
  inherited: env,
  terminal,
  signal,
}: Pick<
  FindOptions,
  'CACHE_DIR' | 'inherited' | 'terminal' | 'signal'
>): Promise<ServerPrograms> => {
  // One after the other: the second is mostly made of what was compiled for the first.
  const get = async (what: Package): Promise<string> => {
    const target = cachedProgram(what.name, CACHE_DIR);
    if (isProgram(target)) return target;
    const problem = await buildWithGo({ target, env, terminal, signal }, what);
    if (problem === undefined && isProgram(target)) return target;
    throw new SetupError(
      `There is no ${what.name}: ${problem ?? 'what was built is not usable'}. Install Go ${neededGo} or newer, and it is built.`,
    );
  };
  const server = await get(packages.server);
  return { server, sqlTool: await get(packages.sqlTool) };
};

/** @returns what went wrong; undefined when something was built */
const buildWithGo = async (get: GetOptions, what: Package): Promise<string | undefined> => {
  const [go] = onPath('go', get.env['PATH']);
  const version = go && (await goAt(go, get.env));
  if (!go || !version) return 'Go is not installed';
  if (!isAtLeast(version, neededGo)) return `Go ${version} is too old`;
  mkdirSync(join(get.target, '..'), { recursive: true });
  const problem = await build({ ...get, go, what });
  return problem && `the build failed (${problem})`;
};

const named = async (path: string): Promise<TemporalProgram> => {
  const version = isProgram(path) ? await versionOf(path) : undefined;
  if (!version)
    throw new SetupError(
      `TEMPORAL_CLI_PATH: ${path} is not an executable Temporal CLI: correct it, or unset it to have one found.`,
    );
  if (!isAtLeast(version.server, neededServer))
    throw new SetupError(
      `TEMPORAL_CLI_PATH: ${path} has Temporal server ${version.server}, needed is ${neededServer} or newer: update it, or unset it to have one found.`,
    );
  return { path, ...version };
};

const usable = async (path: string): Promise<TemporalProgram | undefined> => {
  const version = isProgram(path) ? await versionOf(path) : undefined;
  return version && isAtLeast(version.server, neededServer) ? { path, ...version } : undefined;
};

/** Outside the checkout, so that it survives it; by what it is built from, so that it is never stale. */
const cachedProgram = (name: string, cacheDir = join(homedir(), '.cache', 'payments')): string => {
  const sums = readFileSync(new URL('./go.sum', import.meta.url));
  const key = createHash('sha256').update(sums).digest('hex').slice(0, 16);
  return join(cacheDir, `temporal-${key}-${process.platform}-${process.arch}`, name);
};

const noWay = (problems: string[], mayDownload: boolean): string =>
  `There is no Temporal server to start: ${problems.join(', ')}. Any one of these helps: set TEMPORAL_CLI_PATH to a Temporal CLI with server ${neededServer} or newer; put such a "temporal" on PATH; ${
    mayDownload ? 'connect to temporal.download' : 'allow the download (TEMPORAL_DOWNLOAD=true)'
  }; install Go ${neededGo} or newer, and it is built. Or set TEMPORAL_ADDRESS to a server of yours.`;
