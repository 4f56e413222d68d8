import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/**
 * The command line of a process; empty when there is none, or while its program is still being loaded. Small
 * Linux images have no `ps`, and macOS has no `/proc`.
 */
export const commandLineOf = (pid: number): string =>
  existsSync('/proc/self/cmdline')
    ? readProc(pid, 'cmdline').replaceAll('\0', ' ').trim()
    : readPs(['-p', String(pid)], ['command']);

/**
 * The time at which a process started, as the system writes it; empty when there is none or it has ended. With
 * the id it names one process, from the fork on.
 */
export const startTimeOf = (pid: number): string => {
  if (!existsSync('/proc/self/stat')) return readPs(['-p', String(pid)], ['lstart']);
  const stat = readProc(pid, 'stat');
  // Field 2 is a name in brackets, which may have spaces. Field 3 is the state, field 22 the start.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? '' : (fields[18] ?? '');
};

/** Stands in the command line of a process that ends by itself, after what it watches. Whoever ends others leaves it. */
export const endsByItself = 'payments-ends-by-itself';

interface Listed {
  pid: number;
  parent: number;
  state: string;
  /** The times that it and its children that have ended have computed; on Linux in hundredths of a second. */
  cpu: string;
}

/** All processes of this machine. */
export const listProcesses = (): Listed[] =>
  existsSync('/proc/self/stat')
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((name) => {
          const stat = readProc(Number(name), 'stat');
          // Field 2 is a name in brackets, which may have spaces. Fields 3 and 4 are state and parent, 14 to 17 the times.
          const [state = '', parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
          const cpu = fields.slice(9, 13).join(' ');
          return { pid: Number(name), parent: Number(parent), state, cpu };
        })
    : readPs(['-A'], ['pid', 'ppid', 'state', 'time'])
        .split('\n')
        .map((line) => {
          const [pid, parent, state = '', cpu = ''] = line.trim().split(/\s+/);
          return { pid: Number(pid), parent: Number(parent), state, cpu };
        });

const readProc = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

const readPs = (which: string[], columns: string[]): string => {
  const output = columns.flatMap((column) => ['-o', `${column}=`]);
  return spawnSync('ps', ['-ww', ...output, ...which], { encoding: 'utf8' }).stdout.trim();
};
