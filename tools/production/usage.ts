import { readFileSync } from 'node:fs';

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
