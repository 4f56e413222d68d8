import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { readProcessTable } from '../../../stack/process-table.ts';
import { serviceCompileCache } from '../../../tools/production/compile-cache.ts';
import { copyCluster } from '../runner/cluster.ts';
import { compileCache } from '../runner/compile-cache.ts';
import { until } from '../until.ts';
import { watchProgram } from './output.ts';

/** A temporary folder that Postgres, another user when the tests run as root, can pass through. */
export const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-test-'));
  chmodSync(folder, 0o711);
  onTestFinished(() => removeFolder(folder));
  return folder;
};

/**
 * Gives a stack on this empty folder what its first start would make: a migrated Postgres, the workflow
 * bundle and the compile cache.
 * @returns the folder
 */
export const prepare = (dataDir: string): string => {
  copyCluster(inject('postgresTemplate'), join(dataDir, 'postgres'));
  const bundle = inject('workflowBundle');
  cpSync(bundle, join(dataDir, 'bundles', basename(bundle)));
  symlinkSync(serviceCompileCache, join(dataDir, 'compile-cache'));
  return dataDir;
};

/** Writes an executable of a few shell lines. */
export const writeProgram = (path: string, lines: string[]): void =>
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });

/** A checkout with some scripts of `deploy/`, which call these shell lines as `docker`. */
export const aCheckout = (scripts: readonly string[], docker: string[]) => {
  const folder = aFolder();
  for (const name of ['deploy', 'secrets', 'bin']) mkdirSync(join(folder, name));
  for (const script of scripts)
    cpSync(join(import.meta.dirname, '../../../deploy', script), join(folder, 'deploy', script));
  writeProgram(join(folder, 'bin/docker'), docker);
  const path = `${join(folder, 'bin')}:/usr/bin:/bin`;
  return {
    folder,
    path,
    /** Runs a script with its arguments. */
    call: (line: readonly string[], { env = {}, input = '' }: CallOptions = {}) =>
      spawnSync('sh', line, { cwd: folder, env: { PATH: path, ...env }, input, encoding: 'utf8' }),
  };
};
interface CallOptions {
  env?: Record<string, string>;
  /** Its standard input. */
  input?: string;
}

export const freePorts = {
  API_PORT: '0',
  SHOP_PORT: '0',
  CONSOLE_PORT: '0',
  POSTGRES_PORT: '0',
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
};

/** The processes that the stack on this folder has started and that still run. */
export const processesIn = (dataDir: string) => readProcessTable(join(dataDir, 'processes.json'));

/** Kills processes of a stack. A process may have ended by itself, because another was killed. */
export const killAll = (pids: number[]): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
};

export interface StackSettings {
  dataDir: string;
  env?: Record<string, string>;
  /** Arguments for Node before the entry. */
  nodeArgs?: string[];
  entry?: string;
  /** Another way to run it, e.g. npm's. */
  command?: [program: string, ...args: string[]];
}

/** Runs `npm start` with fakes of our own programs. Ends what it leaves after the test. */
export const runStack = ({
  dataDir,
  env = {},
  nodeArgs = [],
  entry = 'test/fakes/stack/main.ts',
  command: [program, ...args] = [process.execPath, ...nodeArgs, entry],
}: StackSettings) => {
  const child = spawn(program, args, {
    env: {
      ...readStackConfig().inherited,
      TEMPORAL_DOWNLOAD: 'false',
      TEMPORAL_CLI_PATH: inject('temporalProgram'),
      NODE_COMPILE_CACHE: compileCache,
      DATA_DIR: dataDir,
      ...freePorts,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { output, errors, exited } = watchProgram(child);
  const ready = Promise.withResolvers<void>();
  child.once('message', () => ready.resolve());
  void exited.then(() => ready.reject(new Error(`The stack did not come up:\n${output()}`)));
  ready.promise.catch(() => {}); // A test that expects a failure does not await it.
  const survivors = () => processesIn(dataDir).map(({ pid }) => pid);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
    killAll(survivors());
  });
  return {
    pid: child.pid ?? 0,
    output,
    errors,
    exited,
    /** Waits for a text in the output. */
    says: (text: string) =>
      until(`it says "${text}"`, () => output().includes(text)).catch((error: unknown) => {
        throw new Error(`${String(error)}; its output:\n${output()}`, { cause: error });
      }),
    ready: async (): Promise<ConnectionFile> => {
      await ready.promise;
      return JSON.parse(readFileSync(join(dataDir, 'connection.json'), 'utf8')) as ConnectionFile;
    },
    survivors,
  };
};

/** Settings that choose the same ports again. */
export const portsOf = (connection: ConnectionFile) => ({
  API_PORT: new URL(connection.api_base_url).port,
  SHOP_PORT: new URL(connection.shop_url).port,
  CONSOLE_PORT: new URL(connection.console_url).port,
  POSTGRES_PORT: new URL(connection.database_url).port,
  TEMPORAL_PORT: connection.temporal_address.split(':')[1] ?? '',
  TEMPORAL_UI_PORT: new URL(connection.temporal_ui_url ?? '').port,
  API_METRICS_PORT: new URL(connection.api_metrics_url).port,
  WORKER_METRICS_PORT: new URL(connection.worker_metrics_url).port,
});
