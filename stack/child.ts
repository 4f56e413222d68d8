import { SetupError } from '../process.ts';
import { launch, onAbort, type Running } from './launch.ts';
import { type Log, reasonOf } from './logs.ts';

export interface ChildOptions {
  name: string;
  /** The entry file and its arguments; it says 'ready' to its parent when it is up. */
  args: string[];
  env: Record<string, string>;
  /** How long it may take to stop before it is forced. */
  stopMs: number;
  log: Log;
  onSpawn: (pid: number) => void;
  signal: AbortSignal;
}

/**
 * A process of ours keeps some 40 MB of objects. On a large machine V8 would let each of its heaps
 * take over 130 MB for young objects alone, and twice of that in the worker, which has two.
 *
 * Where the objects of one place in the code once lived long, as all do while many payers wait, V8 goes
 * on making them among the old ones. Each then keeps a whole request from being collected young: a read
 * cost half as much again for as long as the process lived.
 */
const heapFlags = [
  '--max-semi-space-size=8',
  '--max-old-space-size=384',
  '--no-allocation-site-pretenuring',
];

const startTimeoutMs = 60_000;

/**
 * Starts one of our own programs on the Node we run on.
 * @throws SetupError with the last thing it said when it ends before it is up
 */
export const startChild = async (options: ChildOptions): Promise<Running> => {
  const { name, log, signal } = options;
  const ready = Promise.withResolvers<void>();
  let isUp = false;
  const said: string[] = [];
  const { pid, child, exited, end } = await launch({
    command: process.execPath,
    args: [...heapFlags, ...options.args],
    env: options.env,
    ipc: true,
    onSpawn: options.onSpawn,
    onLine: (line, from) => {
      log.write(line, from);
      if (from === 'stderr' && !isUp) said.push(line);
    },
  });
  const stop = () =>
    end([
      ['SIGTERM', options.stopMs],
      ['SIGKILL', 1000],
    ]);
  const problem = (what: string) =>
    new SetupError(`${name} ${what}${reasonOf(said)}. Its log is ${log.path}.`);
  child.on('message', (message) => {
    if (message === 'ready') ready.resolve();
  });
  void exited.then((how) => ready.reject(problem(how)));
  const timer = setTimeout(
    () => ready.reject(problem('was not ready within a minute')),
    startTimeoutMs,
  );
  const giveUp = () => ready.reject(problem('was stopped while it started'));
  const forget = onAbort(signal, giveUp);
  try {
    await ready.promise;
    isUp = true;
    return { pid, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
    forget();
  }
};
