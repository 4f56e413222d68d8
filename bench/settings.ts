import { eventId } from '../contract/ids.ts';
import { createDeliveries } from '../postgres/webhooks/deliveries.ts';
import { connect } from '../postgres/driver/connection.ts';
import { createPaymentOutcomes } from '../postgres/payments/outcomes.ts';
import type { ProductionSettings } from '../tools/production/production.ts';
import type { Bench } from './environment.ts';
import { absolute, compared, type Figure, formatTable } from './figure.ts';
import { closedLoop, median } from './load.ts';
import { sample, type Sample, sumCpu } from './processes.ts';
import { startReceiver } from './receiver.ts';
import { type Shape, startShape } from './shape.ts';

/** The worker's options of the SDK. */
const sdk = (options: object): ProductionSettings => {
  const url = new URL('worker-options.mjs', import.meta.url);
  url.searchParams.set('options', JSON.stringify(options));
  return { workerFlags: [`--import=${url.href}`] };
};

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
  'four pollers': sdk({ maxConcurrentWorkflowTaskPolls: 4, maxConcurrentActivityTaskPolls: 4 }),
  'as many pollers as needed': sdk({
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
  }),
  'cache of 1,000 workflows': sdk({ maxCachedWorkflows: 1_000 }),
};

const whole = { atOnce: 20, count: 150, limitMs: 20_000 };
const rounds = [1, 2, 3, 4, 5];

/** Each candidate beside the settings of docker-compose.yml, in turn. Below 1 it saves CPU. */
export const measureSettings = async (bench: Bench): Promise<Figure[]> => {
  using receiver = await startReceiver();
  const figures: Figure[] = [];
  const add = (more: Figure[]) => {
    bench.say(formatTable(more));
    figures.push(...more);
  };
  for (const [name, settings] of Object.entries(candidates)) {
    // Both are new: a server that has run for longer has more closed workflows.
    const usualName = `Beside ${name}`;
    await using usual = await startShape(bench, { name: usualName, processes: 1, receiver });
    await using changed = await startShape(bench, { name, processes: 1, settings, receiver });
    add(await compareShapes(name, { usual, changed }));
  }
  await using shape = await startShape(bench, { name: 'Two reads', processes: 1, receiver });
  add(await measureReads(shape));
  return figures;
};

const compareShapes = async (
  name: string,
  { usual, changed }: { usual: Shape; changed: Shape },
): Promise<Figure[]> => {
  const bares: number[] = [];
  /** Both servers run the bare workflows, because they clean up after them while payments run. */
  const measure = async ({ pids, pay, bare }: Shape): Promise<Sample> => {
    const alone = await sample({ ...pids, ...bare.pids }, () => bare.runWorkflows(whole));
    bares.push(sumCpu(alone.cpu));
    return sample(pids, () => closedLoop(whole, pay));
  };
  const samples: { usual: Sample; changed: Sample }[] = [];
  for (const round of rounds) {
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

/** The worker's reads by key before a verification and before an attempt, beside a whole paid payment. */
const measureReads = async ({ databaseUrl, pids, pay }: Shape): Promise<Figure[]> => {
  const sql = connect(databaseUrl, { name: 'bench-reads', max: whole.atOnce });
  try {
    const ids = await sql<
      { id: string }[]
    >`select id from payments where status = 'paid' limit 200`;
    const outcomes = createPaymentOutcomes(sql);
    const deliveries = createDeliveries(sql);
    let done = 0;
    const read = async () => {
      const { id = '' } = ids[Math.floor(Math.random() * ids.length)] ?? {};
      const found = [await outcomes.get(id), await deliveries.get(eventId(id))];
      if (found.includes(undefined)) throw new Error(`${id} is not there`);
      done += 1;
    };
    const samples: { ours: number; ceiling: number }[] = [];
    for (const _ of rounds) {
      const paying = await sample(pids, () => closedLoop(whole, pay));
      done = 0;
      const before = process.cpuUsage();
      const reading = await sample(pids, () => closedLoop({ ...whole, count: 2_000 }, read));
      const { user, system } = process.cpuUsage(before);
      const ours = reading.cpu.postgres + (user + system) / 1_000 / done;
      samples.push({ ours, ceiling: sumCpu(paying.cpu) });
    }
    const what = 'CPU of the two reads by key, beside a paid payment';
    return [compared({ name: what, unit: 'ms', ceilingName: 'payment' }, samples)];
  } finally {
    await sql.end();
  }
};
