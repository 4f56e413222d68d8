import type { ProductionSettings } from '../tools/production/production.ts';
import type { Bench } from './environment.ts';
import { absolute, compared, type Figure, formatTable } from './figure.ts';
import { closedLoop, median } from './load.ts';
import { sample, type Sample, sumCpu } from './processes.ts';
import { startReceiver } from './receiver.ts';
import { type Shape, startShape } from './shape.ts';

/** Settings that might be faster than those of docker-compose.yml. */
const candidates: Readonly<Record<string, ProductionSettings>> = {
  // A control: it shows the error of the method.
  'the same settings': {},
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

const whole = { atOnce: 20, count: 150, limitMs: 20_000 };
const rounds = [1, 2, 3, 4, 5];

/** Each candidate beside the settings of docker-compose.yml, in turn. Below 1 it saves CPU. */
export const measureSettings = async (bench: Bench): Promise<Figure[]> => {
  using receiver = await startReceiver();
  const figures: Figure[] = [];
  await using usual = await startShape(bench, { name: 'Usual settings', processes: 1, receiver });
  for (const [name, settings] of Object.entries(candidates)) {
    await using changed = await startShape(bench, { name, processes: 1, settings, receiver });
    const ofCandidate = await compareShapes(name, { usual, changed });
    bench.say(formatTable(ofCandidate));
    figures.push(...ofCandidate);
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
