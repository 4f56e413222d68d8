import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { SetupError } from '../process.ts';

/** What the figures are about; the load generator, the receiver and the shop are none of these. */
export type Part = 'api' | 'worker' | 'temporal' | 'postgres';
export const parts: readonly Part[] = ['api', 'worker', 'temporal', 'postgres'];
export type Pids = Record<Part, number>;

/** Milliseconds of CPU by part. */
export type Cpu = Record<Part, number>;
export const totalOf = (cpu: Cpu): number => parts.reduce((sum, part) => sum + cpu[part], 0);

interface Stat {
  pid: number;
  parent: number;
  /** Its own, and those of children that ended and were waited for. */
  ownTicks: number;
  endedTicks: number;
}

const readStat = (pid: number): Stat | undefined => {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold anything; what follows begins with field 3, the state.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return {
      pid,
      parent: field(4),
      ownTicks: field(14) + field(15),
      endedTicks: field(16) + field(17),
    };
  } catch {
    return undefined; // It ended just now.
  }
};

const allStats = (): Stat[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);

const ticksPerSecond = () =>
  Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** The processes of a stack that is up, by its own process. @throws SetupError */
export const findPids = (stackPid: number): Pids => {
  const children = allStats()
    .filter(({ parent }) => parent === stackPid)
    .map(({ pid }) => ({ pid, command: commandOf(pid) }));
  const find = (part: Part, mark: string): number => {
    const found = children.find(({ command }) => command.includes(mark));
    if (!found) throw new SetupError(`The stack has no process for ${part}.`);
    return found.pid;
  };
  return {
    api: find('api', 'api/main.ts'),
    worker: find('worker', 'worker/main.ts'),
    temporal: find('temporal', ' start-dev '),
    postgres: find('postgres', 'bin/postgres '),
  };
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

/** Since each began. Postgres is its server process and one for each connection, past ones too. */
export const createCpuMeter = () => {
  const msPerTick = 1000 / ticksPerSecond();
  return (pids: Pids): Cpu => {
    const stats = allStats();
    const usedBy = (pid: number): number => {
      const own = stats.find((stat) => stat.pid === pid);
      const children = stats.filter(({ parent }) => parent === pid);
      const ticks = [own, ...children].map((stat) => (stat ? stat.ownTicks + stat.endedTicks : 0));
      return ticks.reduce((sum, each) => sum + each, 0) * msPerTick;
    };
    return {
      api: usedBy(pids.api),
      worker: usedBy(pids.worker),
      temporal: usedBy(pids.temporal),
      postgres: usedBy(pids.postgres),
    };
  };
};

/** Memory that a process holds, in millions of bytes. */
export const residentMb = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
};
