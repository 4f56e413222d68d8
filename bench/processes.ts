import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../process.ts';
import { readProcessTable } from '../stack/process-table.ts';
import { listProcesses } from '../stack/system-processes.ts';
import { cpuMs, familyOf, residentMb, shareMb } from '../tools/production/usage.ts';
import { type Finished, perSecond } from './load.ts';

/** The measured processes; the load generator, the receiver and the shop are none of these. */
export const parts = ['api', 'worker', 'temporal', 'postgres'] as const;
export type Part = (typeof parts)[number];
export type Pids = Record<Part, number>;

/** Milliseconds of CPU. */
export type Cpu = Record<Part, number>;
export const sumCpu = (cpu: Cpu): number => parts.reduce((sum, part) => sum + cpu[part], 0);

const forEachPart = <T>(value: (part: Part) => T): Record<Part, T> => ({
  api: value('api'),
  worker: value('worker'),
  temporal: value('temporal'),
  postgres: value('postgres'),
});

/** All processes of the stack, by name. */
export const findAllPids = (processTable: string): Record<string, number> =>
  Object.fromEntries(readProcessTable(processTable).map(({ name, pid }) => [name, pid]));

/** @throws SetupError when the stack lacks one of the processes */
export const findPids = (processTable: string): Pids => {
  const all = findAllPids(processTable);
  return forEachPart((part) => {
    const pid = all[part];
    if (pid === undefined) throw new SetupError(`The stack has no process ${part}.`);
    return pid;
  });
};

/** The milliseconds of CPU of each process since its start. */
export const readCpu = <Name extends string>(pids: Record<Name, number>): Record<Name, number> => {
  const all = listProcesses(); // Once, so that all are measured at one time.
  const entries = Object.entries<number>(pids).map(([name, pid]) => [name, cpuMs(pid, all)]);
  return Object.fromEntries(entries) as Record<Name, number>;
};

/** The memory of each process, in millions of bytes. Postgres counts with its children, which share most of it. */
export const memoryMb = (pids: Pids): Record<Part, number> => ({
  ...forEachPart((part) => residentMb(pids[part]) ?? NaN),
  postgres: familyOf(pids.postgres).reduce((sum, { pid }) => sum + (shareMb(pid) ?? 0), 0),
});

export interface Sample {
  perSecond: number;
  /** For one piece of work. */
  cpu: Cpu;
}

/** Temporal, Postgres and the logs still work after the last response, and that belongs to the sample. */
const afterMs = 750;

/** Runs a stretch of work, and measures the CPU that each process used for one piece of it. */
export const sample = async (pids: Pids, run: () => Promise<Finished>): Promise<Sample> => {
  const before = readCpu(pids);
  const finished = await run();
  await sleep(afterMs);
  const after = readCpu(pids);
  return {
    perSecond: perSecond(finished),
    cpu: forEachPart((part) => (after[part] - before[part]) / finished.count),
  };
};
