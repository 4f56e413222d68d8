import { setTimeout as sleep } from 'node:timers/promises';
import type { Bare } from './bare.ts';
import { absolute, compared, type Figure, type Round } from './figure.ts';
import { closedLoop, type Finished, median, perSecondOf, quantile, steadily } from './load.ts';
import type { BenchPayments } from './payments.ts';
import { type Cpu, type CpuMeter, parts, type Pids, residentMb } from './processes.ts';

export interface Deps {
  payments: BenchPayments;
  bare: Bare;
  pids: Pids;
  barePids: Pids;
  cpu: CpuMeter;
  say: (line: string) => void;
}

const rounds = [1, 2, 3] as const;
const atOnce = 20;
const whole = { atOnce, count: 200, limitMs: 15_000 };
/** Node compiles the hot code of a young process for many seconds: that is no cost of a payment. */
const warmUp = { atOnce, count: 150, limitMs: 15_000 };
const reads = { atOnce: 50, count: Infinity, limitMs: 4000 };
const creates = { perSecond: 5, seconds: 8 };
const outcomes = { perSecond: 2, seconds: 10 };
const paymentsForMemory = 1000;

/** What engine and database still do after the last answer belongs to it. */
const afterMs = 750;

interface Sample {
  perSecond: number;
  /** Of one piece of work. */
  cpu: Cpu;
}

/** All figures of a running stack, the ceiling of each beside it in every round. */
export const measure = async (deps: Deps): Promise<Figure[]> => {
  const { payments, bare, pids, barePids, cpu, say } = deps;
  let paid = 0;
  const pay = async () => {
    const { latencyMs } = await payments.pay();
    paid += 1;
    return latencyMs;
  };

  const sample = async (of: Pids, run: () => Promise<Finished>): Promise<Sample> => {
    const before = cpu(of);
    const finished = await run();
    await sleep(afterMs);
    const after = cpu(of);
    const each = (part: keyof Cpu) => (after[part] - before[part]) / finished.count;
    return {
      perSecond: perSecondOf(finished),
      cpu: {
        api: each('api'),
        worker: each('worker'),
        temporal: each('temporal'),
        postgres: each('postgres'),
      },
    };
  };

  say('Warming up …');
  await bare.runWorkflows(warmUp);
  await closedLoop(warmUp, pay);
  const readId = await payments.create();
  const rowId = await bare.insert('warm-up');

  const wholes: { ceiling: Sample; ours: Sample }[] = [];
  const inserts: Round[] = [];
  const selects: Round[] = [];
  const starts: number[] = [];
  const latencies: number[] = [];
  for (const round of rounds) {
    say(`Round ${round} of ${rounds.length}: whole payments …`);
    wholes.push({
      ceiling: await sample(barePids, () => bare.runWorkflows(whole)),
      ours: await sample(pids, () => closedLoop(whole, pay)),
    });
    starts.push(perSecondOf(await bare.startWorkflows({ atOnce, count: 150, limitMs: 5000 })));
    await sleep(afterMs);
    say(`Round ${round} of ${rounds.length}: create, read, webhook …`);
    const bareInserts = await steadily(creates, async () => {
      await bare.insert(`order-${round}`);
    });
    const ours = await steadily(creates, async () => {
      await payments.create();
    });
    inserts.push({ ceiling: median(bareInserts), ours: median(ours) });
    selects.push({
      ceiling: perSecondOf(await closedLoop(reads, () => bare.select(rowId))),
      ours: perSecondOf(await closedLoop(reads, () => payments.read(readId))),
    });
    latencies.push(...(await steadily(outcomes, pay)));
  }

  say(`Going on to ${paymentsForMemory} payments …`);
  const rest = Math.max(0, paymentsForMemory - paid);
  await closedLoop({ atOnce, count: rest, limitMs: 60_000 }, pay);

  return [
    ...wholeFigures(wholes),
    compared(
      { name: 'create, 5 a second, p50', unit: 'ms', ceilingName: 'bare insert route' },
      inserts,
      { atMost: 3 },
    ),
    compared(
      {
        name: 'read one payment, 50 connections',
        unit: '/s',
        ceilingName: 'bare select route',
      },
      selects,
      { atLeast: 0.5 },
    ),
    absolute(
      { name: 'outcome → webhook, 2 a second, p95', unit: 'ms' },
      quantile(latencies, 0.95),
      { atMost: 150 },
    ),
    absolute({ name: 'outcome → webhook, p50', unit: 'ms' }, median(latencies)),
    absolute({ name: `API's memory after ${paid} payments`, unit: 'MB' }, residentMb(pids.api), {
      atMost: 180,
    }),
    absolute(
      { name: `worker's memory after ${paid} payments`, unit: 'MB' },
      residentMb(pids.worker),
      { atMost: 400 },
    ),
    absolute({ name: 'workflow.start alone, 20 at once', unit: '/s' }, median(starts)),
  ];
};

const totalOf = (cpu: Cpu) => parts.reduce((sum, part) => sum + cpu[part], 0);

const wholeFigures = (wholes: { ceiling: Sample; ours: Sample }[]): Figure[] => {
  const ceilingName = 'bare workflow';
  const roundsOf = (pick: (sample: Sample) => number): Round[] =>
    wholes.map(({ ceiling, ours }) => ({ ceiling: pick(ceiling), ours: pick(ours) }));
  return [
    compared(
      { name: 'whole paid payments, 20 at once', unit: '/s', ceilingName },
      roundsOf(({ perSecond }) => perSecond),
      { atLeast: 0.8 },
    ),
    compared(
      { name: 'CPU per paid payment, in all', unit: 'ms', ceilingName },
      roundsOf(({ cpu }) => totalOf(cpu)),
      { atMost: 1.25 },
    ),
    ...parts.map((part) =>
      compared(
        { name: `  of these ${part}`, unit: 'ms', ceilingName },
        roundsOf(({ cpu }) => cpu[part]),
      ),
    ),
  ];
};
