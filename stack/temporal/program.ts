import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { SetupError } from '../../process.ts';
import type { Terminal } from '../terminal.ts';
import { build, goAt, neededGo } from './build.ts';
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

  const cached = cachedProgram(options.CACHE_DIR);
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
    ...(options.signal && { signal: options.signal }),
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
  const [go] = onPath('go', inherited['PATH']);
  const goVersion = go && (await goAt(go, inherited));
  if (go && goVersion && isAtLeast(goVersion, neededGo)) {
    mkdirSync(join(cached, '..'), { recursive: true });
    const problem = await build({ ...get, go });
    const found = await usable(cached);
    if (found) return found;
    problems.push(`the build failed (${problem ?? 'what came is not usable'})`);
  } else problems.push(goVersion ? `Go ${goVersion} is too old` : 'Go is not installed');
  throw new SetupError(noWay(problems, options.TEMPORAL_DOWNLOAD));
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
const cachedProgram = (cacheDir = join(homedir(), '.cache', 'payments')): string => {
  const sums = readFileSync(new URL('./go.sum', import.meta.url));
  const key = createHash('sha256').update(sums).digest('hex').slice(0, 16);
  return join(cacheDir, `temporal-${key}-${process.platform}-${process.arch}`, 'temporal');
};

const noWay = (problems: string[], mayDownload: boolean): string =>
  `There is no Temporal server to start: ${problems.join(', ')}. Any one of these helps: set TEMPORAL_CLI_PATH to a Temporal CLI with server ${neededServer} or newer; put such a "temporal" on PATH; ${
    mayDownload ? 'connect to temporal.download' : 'allow the download (TEMPORAL_DOWNLOAD=true)'
  }; install Go ${neededGo} or newer, and it is built. Or set TEMPORAL_ADDRESS to a server of yours.`;
