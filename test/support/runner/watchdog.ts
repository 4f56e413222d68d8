import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  commandLineOf,
  endsByItself,
  listProcesses,
  startTimeOf,
} from '../../../stack/system-processes.ts';

/*
 * The watchdog of a run, see leave-nothing.ts. It remembers the processes that the run has started, theirs too: once
 * a process has ended, the system no longer says who started its children. A run that SIGKILL ends leaves what it began in
 * its last second.
 */

const everyMs = 1_000;
/**
 * Each signal in turn, with the time that follows it. On SIGTERM Postgres would wait for its clients; a background
 * process of a shell ignores SIGINT. A Docker Engine stops its containers first.
 */
const signals = [
  ['SIGINT', 5_000],
  ['SIGTERM', 25_000],
  ['SIGKILL', 60_000],
] as const;

const [parent = '', folder = ''] = process.argv.slice(2);
/** The start tells a process from a later one with the same id. */
const started = new Map<number, string>();

const look = () => {
  const isOurs = (pid: number) => started.has(pid) || pid === Number(parent);
  const processes = listProcesses().filter(({ pid }) => pid !== process.pid);
  for (let size = -1; size < started.size;) {
    size = started.size;
    for (const { pid, parent: its } of processes)
      if (isOurs(its) && !isOurs(pid) && startTimeOf(pid)) started.set(pid, startTimeOf(pid));
  }
  for (const [pid, start] of started) if (startTimeOf(pid) !== start) started.delete(pid);
};

const signalAll = (signal: NodeJS.Signals) => {
  for (const pid of started.keys())
    if (!commandLineOf(pid).includes(endsByItself))
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended.
      }
};

const end = async () => {
  clearInterval(timer);
  look();
  for (const [signal, waitMs] of signals) {
    signalAll(signal);
    for (const until = Date.now() + waitMs; started.size > 0 && Date.now() < until; look())
      await sleep(100);
  }
  remove();
};

const remove = () => {
  // Not rmSync, which takes a minute for the files of images.
  spawnSync('rm', ['-rf', folder]);
  process.exit();
};

const timer = setInterval(look, everyMs);
look();
let isOver = false;
process.on('SIGINT', () => {});
process.once('SIGTERM', () => void end());
process.stdin.on('data', () => (isOver = true));
process.stdin.once('close', () => (isOver ? remove() : void end()));
// From here on no signal ends it before its work is done.
process.stdout.write('ready');
