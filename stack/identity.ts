import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A process and what tells it from a later one that was given the same id. */
const Identity = z.object({ pid: z.int(), born: z.string() });
export type Identity = z.infer<typeof Identity>;

const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** Undefined when there is no such process, or only its remains. */
const bornOf = (pid: number): string | undefined => {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name, in brackets, may hold anything; state is the field after it, start time the 20th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : `${bootId()} ${fields[19]}`;
    } catch {
      return undefined;
    }
  }
  const ps = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return ps.status === 0 ? ps.stdout.trim() || undefined : undefined;
};

export const identify = (pid: number): Identity => ({ pid, born: bornOf(pid) ?? '' });

export const isAlive = ({ pid, born }: Identity): boolean => born !== '' && bornOf(pid) === born;

/** The command line of a process, empty when there is none. */
export const commandLineOf = (pid: number): string => {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
};

/** Undefined for a file that is missing, or torn. */
export const readIdentities = (path: string): Identity[] | undefined => {
  try {
    return z.array(Identity).parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
};
