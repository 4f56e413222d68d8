import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { until } from '../until.ts';

const upLimitMs = 90_000;

/** What keeps a command's stack apart from every other on this machine. */
export const aSurrounding = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-demo-'));
  // Postgres runs as another user when the tests run as root.
  chmodSync(dataDir, 0o711);
  return {
    connectionFile: join(dataDir, 'connection.json'),
    env: {
      ...readStackConfig().inherited,
      TEMPORAL_DOWNLOAD: 'false',
      TEMPORAL_CLI_PATH: inject('temporalProgram'),
      DATA_DIR: dataDir,
      API_PORT: '0',
      SHOP_PORT: '0',
      POSTGRES_PORT: '0',
      TEMPORAL_PORT: '0',
      TEMPORAL_UI_PORT: '0',
    },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
};

/** Runs one of the package's commands as a user would; `output` is all it said so far. */
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

/** `npm start` with data and ports of its own. */
export const startStack = async (): Promise<StartedStack> => {
  const { connectionFile, env, remove } = aSurrounding();
  const command = runCommand(['start'], env);
  const isReady = () => {
    if (command.hasExited()) throw new Error(`npm start ended:\n${command.output()}`);
    return command.output().includes('Ready after') && existsSync(connectionFile);
  };
  try {
    await until('the stack says that it is ready', isReady, upLimitMs);
  } catch (error) {
    command.signal('SIGTERM');
    await command.exited;
    remove();
    throw error;
  }
  const facts = JSON.parse(readFileSync(connectionFile, 'utf8')) as ConnectionFile;
  return {
    facts,
    connectionFile,
    env,
    stop: async () => {
      process.kill(facts.pid, 'SIGINT');
      await command.exited;
      remove();
    },
  };
};
