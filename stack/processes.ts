import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../process.ts';
import { type Log, reasonIn } from './logs.ts';
import { type StartLimits, watchStart } from './starting.ts';

/** Each signal in turn, with the time it has to end the process. The last one is SIGKILL. */
type StopSignals = [signal: NodeJS.Signals, waitMs: number][];

export interface LaunchOptions {
  name: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  uid?: number | undefined;
  gid?: number | undefined;
  stopSignals?: StopSignals;
  onLine?: (line: string, from: 'stdout' | 'stderr') => void;
  /** Opens a message channel, whose end tells the child that this process has gone. */
  onMessage?: (message: unknown) => void;
  /** Runs before anything else can happen to either process. */
  onSpawn?: (child: RunningProcess) => void;
}

export interface RunningProcess {
  name: string;
  pid: number;
  /** Resolves to the end in words, e.g. `ended with code 0`. Never rejects. */
  exited: Promise<string>;
  /** Ends it, with all processes that it has started. */
  stop(): Promise<void>;
}

export type Launch = (options: LaunchOptions) => Promise<RunningProcess>;

/**
 * Starts a process as the leader of a process group of its own. Ctrl-C reaches the whole group in the
 * foreground, and would stop a database before its clients.
 * @throws Error when the command cannot be executed
 */
export const launch: Launch = async (options) => {
  const { name, command, args, env, cwd, uid, gid, onMessage } = options;
  const child = spawn(command, args, {
    env,
    cwd,
    uid,
    gid,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(onMessage ? ['ipc' as const] : [])],
  });
  const exited = new Promise<string>((resolve) => {
    // Not 'close': a grandchild can hold the pipes open long after.
    child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `code ${code}`}`));
  });
  const { pid = 0 } = child;
  const running: RunningProcess = {
    name,
    pid,
    exited,
    async stop() {
      for (const [signal, waitMs] of options.stopSignals ?? [['SIGKILL', 1000]]) {
        if (child.exitCode !== null || child.signalCode !== null) return;
        signalGroup(pid, signal);
        await Promise.race([exited, sleep(waitMs, undefined, { ref: false })]);
      }
    },
  };
  if (pid) options.onSpawn?.(running);
  for (const from of ['stdout', 'stderr'] as const) {
    const stream = child[from];
    if (stream) createInterface(stream).on('line', (line) => options.onLine?.(line, from));
  }
  if (onMessage) child.on('message', onMessage);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.on('error', () => {}); // A message to a child that has just ended.
  return running;
};

/** Sends a signal to a process that was launched, and to all that it has started. */
export const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended, or belongs to another user.
  }
};

/**
 * Node's flags for the processes of the service, each of which keeps some 40 MB of objects. On a large
 * machine V8 would let the young objects of each heap alone take over 130 MB, and the worker has two.
 *
 * V8 allocates objects as old ones when earlier objects from the same place in the code lived long, as
 * all do while many payers wait. Such an object keeps a whole request from being collected young: a
 * read then cost half as much again until the process ended.
 */
const heapFlags = [
  '--max-semi-space-size=8',
  '--max-old-space-size=384',
  '--no-allocation-site-pretenuring',
];

export interface ProgramOptions {
  name: string;
  /** The entry file and its arguments. The program sends 'ready' to its parent. */
  args: string[];
  env: Record<string, string>;
  /** The time that SIGTERM has before SIGKILL follows. */
  stopMs: number;
  log: Log;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
  startLimits?: StartLimits;
}

/**
 * Starts one of our own programs on the Node we run on, and waits until it is ready.
 * @throws SetupError with the reason that the program gave, or that it hangs
 */
export const startProgram = async (options: ProgramOptions): Promise<RunningProcess> => {
  const { name, log, start = launch } = options;
  const ready = Promise.withResolvers<void>();
  const errors: string[] = [];
  let watch: ReturnType<typeof watchStart> | undefined;
  const running = await start({
    name,
    command: process.execPath,
    args: [...heapFlags, ...options.args],
    env: options.env,
    stopSignals: [
      ['SIGTERM', options.stopMs],
      ['SIGKILL', 1000],
    ],
    onLine: (line, from) => {
      log.write(line, from);
      watch?.wrote();
      if (from === 'stderr' && errors.length < 100) errors.push(line);
    },
    onMessage: (message) => {
      if (message === 'ready') ready.resolve();
    },
  });
  const fail = (what: string) =>
    ready.reject(new SetupError(`${name} ${what}${reasonIn(errors)}. Its log is ${log.path}.`));
  void running.exited.then(fail);
  watch = watchStart(running.pid, options.startLimits);
  void watch.hung.then(fail);
  try {
    await ready.promise;
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  } finally {
    watch.stop();
  }
};
