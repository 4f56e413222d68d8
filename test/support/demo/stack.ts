import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { prepare, freePorts } from '../stack/support.ts';
import { until } from '../until.ts';

const startLimitMs = 240_000;

/** Runs one of the package's commands as a user would. */
export const runCommand = (args: string[], env: Record<string, string>) => {
  const child = spawn('npm', args, {
    cwd: join(import.meta.dirname, '../../..'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // 'close', so that the output is complete.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    output: () => output,
    exited,
    hasExited: () => child.exitCode !== null,
    signal: (signal: NodeJS.Signals) => child.kill(signal),
  };
};

export interface StartedStack {
  facts: ConnectionFile;
  connectionFile: string;
  env: Record<string, string>;
  stop: () => Promise<void>;
}

/** Runs `npm start` with data and ports of its own. */
export const startStack = async (): Promise<StartedStack> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-demo-'));
  // Postgres runs as another user when the tests run as root.
  chmodSync(dataDir, 0o711);
  prepare(dataDir);
  const connectionFile = join(dataDir, 'connection.json');
  const env = {
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
  return { facts, connectionFile, env, stop: end };
};
