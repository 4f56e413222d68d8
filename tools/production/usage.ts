import { readFileSync } from 'node:fs';
import { listProcesses } from '../../stack/system-processes.ts';

/** The resident memory of a process, in millions of bytes. Undefined once it has ended. */
export const residentMb = (pid: number): number | undefined =>
  readMb(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB$/m);

/** The same, but of each shared page only the process's part: the sum over a family counts it once. */
export const shareMb = (pid: number): number | undefined =>
  readMb(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB$/m);

const readMb = (path: string, line: RegExp): number | undefined => {
  try {
    const kb = line.exec(readFileSync(path, 'utf8'))?.[1];
    return kb === undefined ? undefined : (Number(kb) * 1024) / 1e6;
  } catch {
    return undefined;
  }
};

/** A process with its children: Postgres has one for each connection. */
export const familyOf = (pid: number, all = listProcesses()) =>
  all.filter((one) => one.pid === pid || one.parent === pid);

/** The milliseconds of CPU of a process and its children, also of those that have ended; Linux only. */
export const cpuMs = (pid: number, all = listProcesses()): number =>
  familyOf(pid, all)
    .flatMap(({ cpu }) => cpu.split(' ').map(Number))
    .reduce((sum, hundredths) => sum + hundredths * 10, 0);
