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

/** Runs one of the package's commands as a user would. */
export const runCommand = (args: string[], env: Record<string, string>) => {
  const child = spawn('npm', args, {
    cwd: join(import.meta.dirname, '../../..'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return {
    ...watchProgram(child),
    hasExited: () => child.exitCode !== null,
    signal: (signal: NodeJS.Signals) => child.kill(signal),
  };
};

/** Runs `npm start` for the first time, with data and ports of its own. */
export const startStack = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-demo-'));
  // Postgres runs as another user when the tests run as root.
  chmodSync(dataDir, 0o711);
  const connectionFile = join(dataDir, 'connection.json');
  const env: Record<string, string> = {
    ...readStackConfig().inherited,
    TEMPORAL_DOWNLOAD: 'false',
    TEMPORAL_CLI_PATH: inject('temporalProgram'),
    DATA_DIR: dataDir,
    ...freePorts,
  };
  const command = runCommand(['start'], env);
  const end = async () => {
    command.signal('SIGTERM');
    await command.exited;
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
    stop: end,
  };
};
