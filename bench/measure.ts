import { setTimeout as sleep } from 'node:timers/promises';
import type { Bare } from './bare.ts';
import type { Figure, Round } from './figure.ts';
import { bodiesForMemory, figuresOf, paymentsForMemory, type Wholes } from './figures.ts';
import { closedLoop, median, perSecondOf, steadily } from './load.ts';
import type { BenchPayments } from './payments.ts';
import { type Pids, residentMb } from './processes.ts';
import { afterMs, createSampler } from './sample.ts';

export interface Deps {
  payments: BenchPayments;
  bare: Bare;
  pids: Pids;
  barePids: Pids;
  say: (line: string) => void;
}

const rounds = [1, 2, 3] as const;
const atOnce = 20;
const whole = { atOnce, count: 200, limitMs: 11_000 };
/** Node compiles the hot code of a young process for many seconds: that is no cost of a payment. */
const warmUp = { atOnce, count: 400, limitMs: 25_000 };
const reads = { atOnce: 50, count: Infinity, limitMs: 3000 };
const bodies = { atOnce: 50, count: bodiesForMemory, limitMs: 30_000 };
const creates = { perSecond: 5, seconds: 6 };
const outcomes = { perSecond: 2, seconds: 8 };

/** The whole benchmark stays below 5 minutes, on a busy machine with fewer payments. */
const restMs = () => Math.max(15_000, 260_000 - performance.now());

/** All figures of a running stack, the ceiling of each beside it in every round. */
export const measure = async (deps: Deps): Promise<Figure[]> => {
  const { payments, bare, pids, barePids, say } = deps;
  let paid = 0;
  const pay = async () => {
    const { latencyMs } = await payments.pay();
    paid += 1;
    return latencyMs;
  };

  const sample = createSampler();
  say('Warming up …');
  await bare.runWorkflows(warmUp);
  await closedLoop(warmUp, pay);
  const readId = await payments.create();
  const rowId = await bare.insert('warm-up');

  const beside = async (work: () => Promise<unknown>): Promise<Round> => ({
    ceiling: perSecondOf(await closedLoop(reads, () => bare.select(rowId))),
    ours: perSecondOf(await closedLoop(reads, work)),
  });

  const wholes: Wholes = [];
  const inserts: Round[] = [];
  const selects: Round[] = [];
  const lists: Round[] = [];
  const listsAlone: Round[] = [];
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
    selects.push(await beside(() => payments.read(readId)));
    latencies.push(...(await steadily(outcomes, pay)));
  }

  say(`Going on to ${paymentsForMemory} payments …`);
  const rest = Math.max(0, paymentsForMemory - paid);
  await closedLoop({ atOnce, count: rest, limitMs: restMs() }, pay);

  const memoryMb = { api: residentMb(pids.api), worker: residentMb(pids.worker) };

  say(`Sending ${bodies.count} bodies of 64 KB …`);
  let peakMb = 0;
  const { count: refused } = await closedLoop(bodies, async () => {
    await payments.refusedCreate();
    peakMb = Math.max(peakMb, residentMb(pids.api));
  });

  // After what is said of memory: 50 lists at once leave more garbage than 1,000 payments.
  for (const round of rounds) {
    say(`Round ${round} of ${rounds.length}: lists …`);
    lists.push(await beside(payments.list));
    listsAlone.push(await beside(payments.listAlone));
  }

  return figuresOf({
    ...{ wholes, inserts, selects, lists, listsAlone, starts, latencies, paid, memoryMb },
    waits: payments.waits(),
    bodies: { count: refused, peakMb },
  });
};
