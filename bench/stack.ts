import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import { startChild } from '../stack/child.ts';
import type { ConnectionFacts } from '../stack/connection-file.ts';
import { launch, type Running } from '../stack/launch.ts';
import { openLog } from '../stack/logs.ts';

const root = resolve(import.meta.dirname, '..');
const startTimeoutMs = 60_000;
const stopMs = 12_000;

export interface StackPlace {
  /** Data folder, ours alone. */
  folder: string;
  config: StackConfig;
  signal: AbortSignal;
}

/** As for `npm start`, but apart from every other stack on this machine. */
const environmentOf = ({ folder, config }: StackPlace): Record<string, string> => ({
  ...config.inherited,
  DATA_DIR: folder,
  TEMPORAL_DOWNLOAD: String(config.TEMPORAL_DOWNLOAD),
  ...(config.TEMPORAL_CLI_PATH && { TEMPORAL_CLI_PATH: config.TEMPORAL_CLI_PATH }),
  ...(config.CACHE_DIR && { CACHE_DIR: config.CACHE_DIR }),
  ...{ API_PORT: '0', SHOP_PORT: '0', POSTGRES_PORT: '0' },
  ...{ TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' },
  // All payers of the benchmark have one address.
  PAYER_PAGES_PER_MINUTE: '1000000',
});

const logOf = ({ folder }: StackPlace) => openLog(join(folder, 'logs'), 'stack', () => {});

const readFacts = ({ folder }: StackPlace): ConnectionFacts =>
  JSON.parse(readFileSync(join(folder, 'connection.json'), 'utf8')) as ConnectionFacts; // Its own.

export interface RunningStack extends Running {
  facts: ConnectionFacts;
}

/** A stack that ends with us, whatever happens to us. @throws SetupError */
export const startStack = async (place: StackPlace): Promise<RunningStack> => {
  const running = await startChild({
    name: 'The stack',
    args: [join(root, 'stack/main.ts')],
    env: environmentOf(place),
    stopMs,
    log: logOf(place),
    onSpawn: () => {},
    signal: place.signal,
  });
  return { ...running, facts: readFacts(place) };
};

/** The command itself, from its first moment to the line that says it is ready; then it is stopped. */
export const timeNpmStart = async (place: StackPlace): Promise<number> => {
  const ready = Promise.withResolvers<number>();
  const log = logOf(place);
  const began = performance.now();
  const npm = await launch({
    command: 'npm',
    args: ['start'],
    env: environmentOf(place),
    cwd: root,
    onLine: (line, from) => {
      log.write(line, from);
      if (line.startsWith('Ready after')) ready.resolve(performance.now() - began);
    },
  });
  void npm.exited.then((how) => ready.reject(new SetupError(`npm start ${how}`)));
  const timer = setTimeout(
    () => ready.reject(new SetupError('npm start was not ready within a minute')),
    startTimeoutMs,
  );
  const stop = () => void signalGroup(npm.pid, 'SIGINT');
  place.signal.addEventListener('abort', stop);
  try {
    return await ready.promise;
  } finally {
    clearTimeout(timer);
    place.signal.removeEventListener('abort', stop);
    // Once only: asked a second time the stack does not wait for what it stops.
    if (!place.signal.aborted) stop();
    // npm goes at once, and the stack when it has stopped what it started.
    for (const until = Date.now() + stopMs; signalGroup(npm.pid, 0); await sleep(50))
      if (Date.now() > until) signalGroup(npm.pid, 'SIGKILL');
  }
};

/** To npm, its shell and the stack. @returns whether any of them is left. */
const signalGroup = (leader: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
};
