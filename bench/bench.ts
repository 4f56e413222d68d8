import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseKeyRing, type StackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import { openDataFolder, readSecretsKey } from '../stack/files.ts';
import { findTemporal } from '../stack/temporal/program.ts';
import { createTerminal } from '../stack/terminal.ts';
import { createSetup } from './application.ts';
import { startBare } from './bare.ts';
import { absolute, type Figure } from './figure.ts';
import type { Bench } from './group.ts';
import type { GroupName } from './groups.ts';
import { groups } from './groups.ts';
import { createHttp } from './http.ts';
import { createPayments } from './payments.ts';
import { findPids } from './processes.ts';
import { type RunningStack, type StackPlace, startStack, timeNpmStart } from './stack.ts';

export interface BenchOptions {
  config: StackConfig;
  /** In this order. */
  wanted: readonly GroupName[];
  /** What takes everything down again, in reverse order, also in the middle. */
  cleanup: AsyncDisposableStack;
  signal: AbortSignal;
  say: (line: string) => void;
}

/** Everything from an empty folder to the figures. @throws SetupError */
export const runBench = async (options: BenchOptions): Promise<Figure[]> => {
  const { config, cleanup, signal, say, wanted } = options;
  if (process.platform !== 'linux')
    throw new SetupError('The benchmark reads CPU and memory from /proc: run it on Linux.');
  const folder = createFolder(cleanup);
  const place: StackPlace = { folder: join(folder, 'stack'), config, signal };
  // A first stack fills the caches; should Temporal be missing, this is where it is made.
  await findTemporal({ ...config, terminal: createTerminal(), signal });
  say('Starting a first time …');
  mkdirSync(place.folder);
  const first = await keepStack(place, cleanup);
  await first.stop();
  const figures: Figure[] = [];
  if (wanted.includes('service')) {
    say('Starting with everything cached …');
    const timing = timeNpmStart(place);
    cleanup.defer(() => settled(timing));
    const name = { name: 'npm start to ready, cached', unit: 's' };
    figures.push(absolute(name, (await timing) / 1000, { atMost: 10 }));
  }

  say('Starting the stack to be measured …');
  const stack = await keepStack(place, cleanup);
  const bench = await prepare(stack, { ...options, folder, stackFolder: place.folder });
  for (const name of wanted) figures.push(...(await groups[name](bench)));
  return figures;
};

/** Everything that measures a running stack. */
const prepare = async (
  { facts }: RunningStack,
  options: BenchOptions & { folder: string; stackFolder: string },
): Promise<Bench> => {
  const { config, cleanup, signal, say, folder, stackFolder } = options;
  const databaseUrl = facts.database_url;
  const http = createHttp({ connections: 300 });
  cleanup.defer(http.close);
  const keyRing = parseKeyRing(readSecretsKey(openDataFolder(stackFolder)));
  const setup = createSetup({ databaseUrl, keyRing }, cleanup);
  const bare = await startBare({
    folder,
    databaseUrl,
    temporal: { address: facts.temporal_address, namespace: facts.temporal_namespace },
    http,
    signal,
  });
  cleanup.defer(bare.stop);
  const pids = findPids(facts.pid);
  return {
    ...{ config, facts, http, pids, bare, cleanup, signal, folder, say },
    barePids: { ...pids, ...bare.pids },
    sql: setup.sql,
    async payers({ receiver, ...application }) {
      const token = await setup.application({ ...application, webhookUrl: receiver.url });
      return createPayments({ http, receiver, apiBaseUrl: facts.api_base_url, token });
    },
  };
};

/** Also one that is still being started is stopped before its folder goes. */
const keepStack = (place: StackPlace, cleanup: AsyncDisposableStack): Promise<RunningStack> => {
  const starting = startStack(place);
  cleanup.defer(() =>
    starting.then(
      ({ stop }) => stop(),
      () => {},
    ),
  );
  return starting;
};

const settled = async (work: Promise<unknown>) => {
  await Promise.allSettled([work]);
};

/** A folder that goes with us. Open to pass through: Postgres, below it, may run as another user. */
const createFolder = (cleanup: AsyncDisposableStack): string => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  chmodSync(folder, 0o711);
  cleanup.defer(() => {
    // Where the temporary folder is closed to that user, the data lies elsewhere and this is a link.
    const data = join(folder, 'stack/postgres');
    if (lstatSync(data, { throwIfNoEntry: false })?.isSymbolicLink())
      rmSync(dirname(readlinkSync(data)), { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  return folder;
};
