import { absolute, compared, type Figure, type Round } from './figure.ts';
import { median, quantile } from './load.ts';
import { parts, totalOf } from './processes.ts';
import type { Sample } from './sample.ts';

export const paymentsForMemory = 1000;
export const bodiesForMemory = 10_000;
/** From an outcome to its webhook, where 2 a second are paid: of 95 in 100. */
export const calmLatencyMs = 150;

export type Wholes = { ceiling: Sample; ours: Sample }[];

export interface Measured {
  wholes: Wholes;
  inserts: Round[];
  selects: Round[];
  lists: Round[];
  listsAlone: Round[];
  /** A second. */
  starts: number[];
  /** Milliseconds. */
  latencies: number[];
  paid: number;
  waits: number;
  memoryMb: { api: number; worker: number };
  /** Requests with a body of 64 KB, and what the API held at most meanwhile. */
  bodies: { count: number; peakMb: number };
}

/** What was measured beside what it must be: the table of the service's speed and memory. */
export const figuresOf = (measured: Measured): Figure[] => {
  const { wholes, inserts, selects, lists, listsAlone, starts, latencies } = measured;
  const { paid, waits, memoryMb, bodies } = measured;
  const create = { name: 'create, 5 a second, p50', unit: 'ms', ceilingName: 'bare insert route' };
  const read = {
    name: 'read one payment, 50 connections',
    unit: '/s',
    ceilingName: 'bare select route',
  };
  const list = { name: 'list of 20, 50 connections', unit: '/s', ceilingName: 'bare select route' };
  const p95 = { name: 'outcome → webhook, 2 a second, p95', unit: 'ms' };
  const memory = (whose: string, usedMb: number, atMost: number): Figure => {
    const name = `memory of the ${whose} after ${paid} payments`;
    const figure = absolute({ name, unit: 'MB' }, usedMb, { atMost });
    // A machine too busy for all of them in time has not shown what it must be.
    return paid < paymentsForMemory ? { ...figure, holds: null } : figure;
  };
  return [
    ...wholeFigures(wholes),
    compared(create, inserts, { atMost: 3 }),
    compared(read, selects, { atLeast: 0.5 }),
    compared(list, lists, { atLeast: 0.35 }),
    compared({ ...list, name: '  no two of them alike' }, listsAlone),
    absolute(p95, quantile(latencies, 0.95), { atMost: calmLatencyMs }),
    absolute({ name: '  the same, p50', unit: 'ms' }, median(latencies)),
    memory('API', memoryMb.api, 180),
    memory('worker', memoryMb.worker, 400),
    bodiesFigure(bodies),
    absolute({ name: 'checkouts that waited over 10 s', unit: '' }, waits),
    absolute({ name: 'workflow.start alone, 20 at once', unit: '/s' }, median(starts)),
  ];
};

const bodiesFigure = ({ count, peakMb }: Measured['bodies']): Figure => {
  const name = `memory of the API, ${count} bodies of 64 KB`;
  const figure = absolute({ name, unit: 'MB' }, peakMb, { atMost: 200 });
  return count < bodiesForMemory ? { ...figure, holds: null } : figure;
};

const wholeFigures = (wholes: Wholes): Figure[] => {
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
