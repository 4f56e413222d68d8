import { execFile } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { killGroup, launch, onAbort, withinMs } from '../launch.ts';
import { takeLock } from '../lock.ts';
import type { Terminal } from '../terminal.ts';

export interface GetOptions {
  /** The file to make. */
  target: string;
  env: Record<string, string>;
  terminal: Terminal;
  /** Of what fetches or compiles: it would outlive a start that is killed. */
  onSpawn?: ((pid: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** A program of the module that go.mod names. */
export interface Package {
  path: string;
  /** For people: "Temporal". */
  name: string;
  /** More for the linker. */
  flags?: string;
}

export const neededGo = '1.26.8';

const timeoutMs = 45 * 60_000;
const module = new URL('./go.mod', import.meta.url);

const versionOfCli = / (?:github\.com\/temporalio\/cli) v(\S+)/.exec(
  readFileSync(module, 'utf8').replaceAll('\t', ' '),
)?.[1];

export const packages = {
  cli: {
    path: 'github.com/temporalio/cli/cmd/temporal',
    name: 'Temporal',
    flags: `-X github.com/temporalio/cli/internal/temporalcli.Version=${versionOfCli}`,
  },
  server: { path: 'go.temporal.io/server/cmd/server', name: 'temporal-server' },
  sqlTool: { path: 'go.temporal.io/server/cmd/tools/sql', name: 'temporal-sql-tool' },
} as const satisfies Record<string, Package>;

/** The version of the Go at this path itself, not of the one it would fetch for a module. */
export const goAt = async (
  go: string,
  env: Record<string, string>,
): Promise<string | undefined> => {
  const answer = await promisify(execFile)(go, ['version'], {
    env,
    cwd: '/',
    timeout: 15_000,
  }).catch(() => undefined);
  return /go(\d[\d.]*)/.exec(answer?.stdout ?? '')?.[1];
};

type BuildOptions = GetOptions & { go: string; what: Package };

/**
 * Compiles a program of Temporal from the public Go modules that go.mod names.
 * Of several that start at once one compiles and the others wait for it.
 * @returns undefined when the program is there, otherwise what went wrong
 */
export const build = async (options: BuildOptions): Promise<string | undefined> => {
  const lockPath = `${options.target}.lock`;
  let done: (() => void) | undefined;
  try {
    for (;;) {
      const lock = takeLock(lockPath);
      if (typeof lock !== 'number') {
        done?.();
        try {
          return existsSync(options.target) ? undefined : await compile(options);
        } finally {
          lock.release();
        }
      }
      done ??= options.terminal.progress(
        `Waiting for ${options.what.name}: process ${lock} is compiling it, which happens once.`,
      );
      await sleep(200, undefined, { signal: options.signal });
    }
  } finally {
    done?.();
  }
};

const compile = async ({ go, what, target, env, terminal, onSpawn, signal }: BuildOptions) => {
  const temporary = `${target}.${process.pid}`;
  const flags = ['-s -w', what.flags ?? ''].join(' ').trim();
  const lines: string[] = [];
  const done = terminal.progress(
    `Compiling ${what.name}: there is no ready-made program here, so it is built from source. The first of Temporal's programs takes 5 to 10 minutes. This happens once; the result is kept.`,
  );
  const compiler = await launch({
    command: go,
    args: ['build', '-trimpath', '-ldflags', flags, '-o', temporary, what.path],
    cwd: fileURLToPath(new URL('.', module)),
    env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
    onSpawn,
    onLine: (line) => lines.push(line),
  });
  // With the compilers and linkers that `go` has started.
  const stop = () => killGroup(compiler.pid);
  const forget = onAbort(signal, stop);
  try {
    const inTime = await withinMs(compiler.exited, timeoutMs);
    if (!inTime) stop();
    if ((await compiler.exited) !== 'ended with code 0')
      return inTime ? (lines.at(-1) ?? 'Go gave no reason') : 'it took longer than 45 minutes';
    flush(temporary);
    renameSync(temporary, target);
    return undefined;
  } finally {
    forget();
    done();
    rmSync(temporary, { force: true });
  }
};

/** Onto the disk: a name that survives a power cut must not have an empty file behind it. */
const flush = (path: string) => {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
};
