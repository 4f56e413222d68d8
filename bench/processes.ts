import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../process.ts';
import { readProcessTable } from '../stack/process-table.ts';
import { residentMb, shareMb } from '../tools/production/memory.ts';
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

interface Stat {
  pid: number;
  parent: number;
  /** The CPU of the process, and of its children that have ended. */
  ticks: number;
}

/** See proc_pid_stat(5) of Linux. */
const readStat = (pid: number): Stat | undefined => {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, can hold anything. The field after it is number 3.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return { pid, parent: field(4), ticks: field(14) + field(15) + field(16) + field(17) };
  } catch {
    return undefined; // It has just ended.
  }
};

const readAllStats = (): Stat[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);

/** A process with its children. */
const family = (stats: readonly Stat[], of: number): Stat[] =>
  stats.filter(({ pid, parent }) => pid === of || parent === of);

/** The milliseconds of CPU of each process since its start. Postgres has a process for each connection. */
export const readCpu = <Name extends string>(pids: Record<Name, number>): Record<Name, number> => {
  const stats = readAllStats();
  const ticksPerSecond = Number(spawnSync('getconf', ['CLK_TCK']).stdout) || 100;
  const cpuOf = (pid: number) =>
    (family(stats, pid).reduce((sum, { ticks }) => sum + ticks, 0) * 1000) / ticksPerSecond;
  const entries = Object.entries<number>(pids).map(([name, pid]) => [name, cpuOf(pid)]);
  return Object.fromEntries(entries) as Record<Name, number>;
};

/** The memory of each process, in millions of bytes. Postgres counts with its children, which share most of it. */
export const memoryMb = (pids: Pids): Record<Part, number> => ({
  ...forEachPart((part) => residentMb(pids[part]) ?? NaN),
  postgres: family(readAllStats(), pids.postgres).reduce(
    (sum, { pid }) => sum + (shareMb(pid) ?? 0),
    0,
  ),
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
