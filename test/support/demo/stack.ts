import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { watchProgram } from '../stack/output.ts';
import { freePorts, processesIn } from '../stack/support.ts';
import { until } from '../until.ts';

const startLimitMs = 240_000;

const root = join(import.meta.dirname, '../../..');

/** Runs one of the package's commands as a user would. */
export const runCommand = (args: string[], env: Record<string, string>, cwd = root) => {
  const child = spawn('npm', args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return {
    ...watchProgram(child),
    hasExited: () => child.exitCode !== null,
    signal: (signal: NodeJS.Signals) => child.kill(signal),
  };
};

/** Makes a folder for the data of a stack. */
const makeDataDir = (): string => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-demo-'));
  // Postgres runs as another user when the tests run as root.
  chmodSync(dataDir, 0o711);
  return dataDir;
};

/** Runs `npm start` with ports of its own, by default in a new folder. `pause` keeps its data for another start. */
export const startStack = async ({ dataDir = makeDataDir(), checkout = root } = {}) => {
  const connectionFile = join(dataDir, 'connection.json');
  const env: Record<string, string> = {
    ...readStackConfig().inherited,
    TEMPORAL_DOWNLOAD: 'false',
    TEMPORAL_CLI_PATH: inject('temporalProgram'),
    DATA_DIR: dataDir,
    ...freePorts,
  };
  const command = runCommand(['start'], env, checkout);
  const pause = async () => {
    command.signal('SIGTERM');
    await command.exited;
  };
  const end = async () => {
    await pause();
    removeFolder(dataDir);
  };
  const isReady = () => {
    if (command.hasExited()) throw new Error(`npm start ended:\n${command.output()}`);
    return command.output().includes('Ready after') && existsSync(connectionFile);
  };
  try {
    await until('the stack is ready', isReady, startLimitMs);
  } catch (error) {
    await end();
    throw error;
  }
  const facts = JSON.parse(readFileSync(connectionFile, 'utf8')) as ConnectionFile;
  return {
    ...{ facts, dataDir, connectionFile, env },
    output: command.output,
    errors: command.errors,
    exited: command.exited,
    survivors: () => processesIn(dataDir).map(({ pid }) => pid),
    pause,
    stop: end,
  };
};
