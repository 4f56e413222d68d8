import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFacts } from '../../../stack/connection-file.ts';
import { until } from '../until.ts';
import { type Identity, isAlive, readIdentities } from '../../../stack/identity.ts';

/** Open to others, as Postgres runs as one of them when the tests run as root; gone after the test. */
export const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-test-'));
  chmodSync(folder, 0o711);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** An executable of a few shell lines. */
export const writeProgram = (path: string, lines: string[]): void =>
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });

export interface StackRun {
  pid: number;
  /** All that it says. */
  output: () => string;
  /** What it says on stderr. */
  errors: () => string;
  exited: Promise<number | null>;
  /** Waits until it has said that. */
  says: (text: string) => Promise<true>;
  ready: () => Promise<ConnectionFacts>;
  facts: () => ConnectionFacts;
  /** Of what it has started. */
  survivors: () => number[];
}

const freePorts = {
  API_PORT: '0',
  SHOP_PORT: '0',
  POSTGRES_PORT: '0',
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
};

export interface StackSettings {
  dataDir: string;
  env?: Record<string, string>;
  nodeArgs?: string[];
  entry?: string;
  /** Another way to run it, e.g. npm's. */
  command?: [program: string, ...args: string[]];
}

/** Runs `npm start` with stand-ins for our own programs. What it leaves is ended after the test. */
export const runStack = ({
  dataDir,
  env = {},
  nodeArgs = [],
  entry = 'test/fakes/stack/main.ts',
  command: [program, ...args] = [process.execPath, ...nodeArgs, entry],
}: StackSettings): StackRun => {
  const child = spawn(program, args, {
    env: {
      ...readStackConfig().inherited,
      // No test fetches anything by itself.
      TEMPORAL_DOWNLOAD: 'false',
      TEMPORAL_CLI_PATH: inject('temporalProgram'),
      DATA_DIR: dataDir,
      ...freePorts,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  let errors = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    errors += chunk.toString();
  });
  // 'close', so that the output is complete.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const facts = () =>
    JSON.parse(readFileSync(join(dataDir, 'connection.json'), 'utf8')) as ConnectionFacts;
  const ready = Promise.withResolvers<void>();
  child.once('message', () => ready.resolve());
  void exited.then(() => ready.reject(new Error(`The stack did not come up:\n${output}`)));
  ready.promise.catch(() => {}); // Whoever expects it to fail does not wait for it.
  const survivors = () => processesIn(dataDir).map(({ pid }) => pid);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
    for (const pid of survivors()) process.kill(pid, 'SIGKILL');
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    errors: () => errors,
    exited,
    says: (text) =>
      until(`it says "${text}"`, () => output.includes(text)).catch((error: unknown) => {
        throw new Error(`${String(error)}; it said:\n${output}`, { cause: error });
      }),
    ready: () => ready.promise.then(facts),
    facts,
    survivors,
  };
};

/** The same ports again. */
export const portsOf = (facts: ConnectionFacts) => ({
  API_PORT: new URL(facts.api_base_url).port,
  SHOP_PORT: new URL(facts.shop_url).port,
  POSTGRES_PORT: new URL(facts.database_url).port,
  TEMPORAL_PORT: facts.temporal_address.split(':')[1] ?? '',
  TEMPORAL_UI_PORT: new URL(facts.temporal_ui_url ?? '').port,
  API_METRICS_PORT: new URL(facts.api_metrics_url).port,
  WORKER_METRICS_PORT: new URL(facts.worker_metrics_url).port,
});

/** What the stack has started and what still lives. */
export const processesIn = (dataDir: string): Identity[] =>
  (readIdentities(join(dataDir, 'processes.json')) ?? []).filter(isAlive);
