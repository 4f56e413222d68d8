import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LaunchOptions {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** A channel for messages, which also tells the child when we are gone. */
  ipc?: boolean;
  onLine?: (line: string, from: 'stdout' | 'stderr') => void;
  onSpawn?: ((pid: number) => void) | undefined;
}

/** A child process of ours that is up. */
export interface Running {
  pid: number;
  /** How it ended, in words; never rejects. */
  exited: Promise<string>;
  stop: () => Promise<void>;
}

export interface Launched extends Omit<Running, 'stop'> {
  child: ChildProcess;
  /** Sends each signal in turn, moving on when the process does not end within its time. */
  end: (signals: [signal: NodeJS.Signals, waitMs: number][]) => Promise<void>;
}

/**
 * Starts a program in a process group of its own: Ctrl-C goes to the whole group in front, and in
 * which order things stop is ours to say.
 * @throws Error when there is nothing to execute
 */
export const launch = async (options: LaunchOptions): Promise<Launched> => {
  const { command, args, env, ipc = false, cwd, uid, gid } = options;
  const child = spawn(command, args, {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc' as const] : [])],
    cwd,
    uid,
    gid,
  });
  const exited = new Promise<string>((resolve) => {
    // Not 'close': a grandchild may hold the pipes open long after.
    child.once('exit', (code, signal) =>
      resolve(signal ? `was ended by ${signal}` : `ended with code ${code}`),
    );
  });
  for (const from of ['stdout', 'stderr'] as const) {
    const stream = child[from];
    if (stream) createInterface(stream).on('line', (line) => options.onLine?.(line, from));
  }
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} did not start`);
  child.on('error', () => {}); // A message to a child that has just ended.
  try {
    options.onSpawn?.(pid);
  } catch (error) {
    // What nobody has written down, nobody would end.
    child.kill('SIGKILL');
    throw error;
  }
  return { pid, child, exited, end: (signals) => endChild(child, exited, signals) };
};

const endChild = async (
  child: ChildProcess,
  exited: Promise<string>,
  signals: [NodeJS.Signals, number][],
) => {
  for (const [signal, waitMs] of signals) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    child.kill(signal);
    await withinMs(exited, waitMs);
  }
};

/** Ends a program that was launched, and all that it has started itself. */
export const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All have ended.
  }
};

/** Also for a signal that was aborted before. @returns what ends the waiting for it. */
export const onAbort = (signal: AbortSignal | undefined, act: () => void): (() => void) => {
  if (signal?.aborted) act();
  signal?.addEventListener('abort', act);
  return () => signal?.removeEventListener('abort', act);
};

/** @returns whether it came in time. */
export const withinMs = async (work: Promise<unknown>, timeoutMs: number): Promise<boolean> => {
  const timer = new AbortController();
  try {
    return await Promise.race([
      work.then(() => true),
      sleep(timeoutMs, false, { signal: timer.signal }),
    ]);
  } finally {
    timer.abort();
  }
};
