import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { createTerminal } from '../stack/terminal.ts';
import {
  type Production,
  type ProductionSettings,
  startProduction,
} from '../tools/production/production.ts';
import { type Bare, startBare } from './bare.ts';
import { type Bench, createApplication } from './environment.ts';
import { absolute, compared, type Figure } from './figure.ts';
import { closedLoop, median } from './load.ts';
import { createPayers } from './payers.ts';
import { type Pids, sample, type Sample, sumCpu } from './processes.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** What might be faster than the settings of docker-compose.yml. */
const candidates: Readonly<Record<string, ProductionSettings>> = {
  'GOGC=1000': { serverEnv: { GOGC: '1000', GOMEMLIMIT: '1GiB' } },
  'no namespace workers': { dynamicConfig: { 'worker.perNamespaceWorkerCount': 0 } },
  'no worker heartbeats': { dynamicConfig: { 'frontend.WorkerHeartbeatsEnabled': false } },
  'tasks deleted at once': {
    dynamicConfig: { 'history.enableBestEffortDeleteTasksOnWorkflowUpdate': true },
  },
  '16 scheduler workers': {
    dynamicConfig: {
      'history.timerProcessorSchedulerWorkerCount': 16,
      'history.transferProcessorSchedulerWorkerCount': 16,
      'history.visibilityProcessorSchedulerWorkerCount': 16,
      'history.archivalProcessorSchedulerWorkerCount': 16,
    },
  },
  'four writes a shard': { dynamicConfig: { 'history.shardIOConcurrency': 4 } },
  'semi-space 32 MB': { workerFlags: ['--max-semi-space-size=32'] },
};

const warmUp = { atOnce: 20, count: 300, limitMs: 30_000 };
const whole = { atOnce: 20, count: 150, limitMs: 20_000 };
const rounds = [1, 2, 3, 4, 5];

interface Shape {
  pids: Pids;
  pay: () => Promise<unknown>;
  bare: Bare;
}

/** Each candidate beside the settings of docker-compose.yml, in turn. Below 1 it saves CPU. */
export const measureSettings = async (bench: Bench): Promise<Figure[]> => {
  using receiver = await startReceiver();
  const figures: Figure[] = [];
  await using usual = await startShape(bench, { name: 'usual', settings: {}, receiver });
  for (const [name, settings] of Object.entries(candidates)) {
    bench.say(`Settings: ${name} …`);
    await using changed = await startShape(bench, { name, settings, receiver });
    figures.push(...(await compareShapes(name, { usual, changed })));
  }
  return figures;
};

const compareShapes = async (
  name: string,
  { usual, changed }: { usual: Shape; changed: Shape },
): Promise<Figure[]> => {
  const measure = ({ pids, pay }: Shape) => sample(pids, () => closedLoop(whole, pay));
  const samples: { usual: Sample; changed: Sample }[] = [];
  const bares: number[] = [];
  for (const round of rounds) {
    const { pids, bare } = usual;
    const alone = await sample({ ...pids, ...bare.pids }, () => bare.runWorkflows(whole));
    bares.push(sumCpu(alone.cpu));
    // In turn, because the second finds a warmer machine.
    const before = round % 2 === 0 ? await measure(changed) : undefined;
    const middle = await measure(usual);
    samples.push({ usual: middle, changed: before ?? (await measure(changed)) });
  }
  const figure = (what: string, pick: (each: Sample) => number) =>
    compared(
      { name: `${name}: ${what}`, unit: 'ms', ceilingName: 'usual' },
      samples.map((each) => ({ ceiling: pick(each.usual), ours: pick(each.changed) })),
    );
  return [
    figure('CPU per paid payment', ({ cpu }) => sumCpu(cpu)),
    figure('  of Temporal', ({ cpu }) => cpu.temporal),
    figure('  of the worker', ({ cpu }) => cpu.worker),
    figure('  of Postgres', ({ cpu }) => cpu.postgres),
    absolute({ name: `${name}: bare workflow`, unit: 'ms' }, median(bares)),
  ];
};

interface ShapeOptions {
  name: string;
  settings: ProductionSettings;
  receiver: Receiver;
}

const startShape = async (
  { config, http, cleanup, say, folder }: Bench,
  { name, settings, receiver }: ShapeOptions,
): Promise<Shape & AsyncDisposable> => {
  const programs = await findTemporalServer({ ...config, terminal: createTerminal() });
  const own = join(folder, `settings-${name.replaceAll(/\W/g, '-')}`);
  mkdirSync(own);
  const running = new AsyncDisposableStack();
  cleanup.defer(() => running.disposeAsync());
  const production = await startProduction({
    folder: own,
    programs,
    processes: 1,
    settings,
    giveUp: say,
  });
  running.defer(production.stop);
  const { databaseUrl, keyRing, webhookKeyRing, temporal } = production;
  const bare = await startBare({ folder: own, databaseUrl, temporal, http });
  running.defer(bare.stop);
  const sql = connect(databaseUrl, { name: 'bench', max: 1 });
  running.defer(() => sql.end({ timeout: 1 }));
  await createGateways(sql).insert(sandboxAccount);
  const keys = { keyRing, webhookKeyRing };
  const token = await createApplication(sql, { slug: 'shop', receiver, ...keys });
  const { pay } = createPayers({ http, receiver, apiBaseUrl: production.url, token });
  await bare.runWorkflows(warmUp);
  await closedLoop(warmUp, pay);
  return {
    bare,
    pay,
    pids: pidsOf(production),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const pidsOf = ({ members }: Production): Pids => {
  const pidOf = (name: string) =>
    members.find((each) => each.name === name)?.lives.at(-1)?.pid ?? 0;
  return {
    api: pidOf('api-1'),
    worker: pidOf('worker-1'),
    temporal: pidOf('temporal'),
    postgres: pidOf('postgres'),
  };
};
