import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Launch, launch } from '../processes.ts';
import type { Terminal } from '../terminal.ts';

/** A program of the Go module in this folder. */
export interface GoProgram {
  path: string;
  /** For people, and the name of the file. */
  name: string;
  linkerFlags?: string;
}

/** The version of the Temporal CLI that go.mod names. */
export const cliVersion =
  /\sgithub\.com\/temporalio\/cli v(\S+)/.exec(
    readFileSync(join(import.meta.dirname, 'go.mod'), 'utf8'),
  )?.[1] ?? '';

export const goPrograms = {
  cli: {
    path: 'github.com/temporalio/cli/cmd/temporal',
    name: 'temporal',
    linkerFlags: `-X github.com/temporalio/cli/internal/temporalcli.Version=${cliVersion}`,
  },
  server: { path: 'go.temporal.io/server/cmd/server', name: 'temporal-server' },
  sqlTool: { path: 'go.temporal.io/server/cmd/tools/sql', name: 'temporal-sql-tool' },
} as const satisfies Record<string, GoProgram>;

const timeoutMs = 45 * 60_000;

export interface BuildOptions {
  go: string;
  program: GoProgram;
  /** The file to make. */
  target: string;
  env: Record<string, string>;
  terminal: Terminal;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
}

/** Compiles a program from the public Go modules that go.mod names. @throws Error with the reason */
export const build = async (options: BuildOptions): Promise<void> => {
  const { go, program, target, env, terminal, start = launch } = options;
  const temporary = `${target}.build`;
  const flags = ['-s -w', program.linkerFlags ?? ''].join(' ').trim();
  const done = terminal.progress(
    `Compiling ${program.name}: there is no ready-made program here. The first of Temporal's programs takes 5 to 10 minutes. This happens once.`,
  );
  const lines: string[] = [];
  let isLate = false;
  const compiler = await start({
    name: 'compiler',
    command: go,
    args: ['build', '-trimpath', '-ldflags', flags, '-o', temporary, program.path],
    cwd: import.meta.dirname,
    env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
    onLine: (line) => lines.push(line),
  });
  const timer = setTimeout(() => {
    isLate = true;
    void compiler.stop();
  }, timeoutMs);
  try {
    const end = await compiler.exited;
    const reason = isLate ? 'it took longer than 45 minutes' : lines.at(-1);
    if (end !== 'ended with code 0')
      throw new Error(`the build failed (${reason ?? 'Go gave no reason'})`);
    flush(temporary);
    renameSync(temporary, target);
  } finally {
    clearTimeout(timer);
    done();
    rmSync(temporary, { force: true });
  }
};

/** Writes the file to the disk: a name that survives a power cut must not have an empty file behind it. */
const flush = (path: string) => {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
};
