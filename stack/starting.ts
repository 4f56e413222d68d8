import { listProcesses } from './system-processes.ts';

/** How long a start may take. */
export interface StartLimits {
  /** A process that neither writes nor computes for so long hangs. */
  idleMs: number;
  /** The end of one that is busy and never ready. */
  wholeMs: number;
}

const defaultLimits = { idleMs: 60_000, wholeMs: 15 * 60_000 };

/**
 * Watches a process that starts. One that still works is waited for: on a busy machine a start takes minutes. Only time in
 * which this process runs counts, not that of a machine that sleeps.
 * @returns `hung` resolves to what is wrong, e.g. `has done nothing for 60 s`
 */
export const watchStart = (pid: number, { idleMs, wholeMs }: StartLimits = defaultLimits) => {
  const hung = Promise.withResolvers<string>();
  const everyMs = idleMs / 12;
  let [passedMs, quietMs] = [0, 0];
  let seen = workOf(pid);
  const timer = setInterval(() => {
    const work = workOf(pid);
    passedMs += everyMs;
    quietMs = work === undefined || work !== seen ? 0 : quietMs + everyMs;
    seen = work;
    if (quietMs >= idleMs) hung.resolve(`has done nothing for ${idleMs / 1000} s`);
    else if (passedMs >= wholeMs) hung.resolve(`was not ready within ${wholeMs / 60_000} minutes`);
  }, everyMs);
  return {
    /** It has written a line. */
    wrote: () => {
      quietMs = 0;
    },
    hung: hung.promise,
    stop: () => clearInterval(timer),
  };
};

/** Differs while the process or one that it has started computes. Undefined: one waits for a CPU or a disk. */
const workOf = (pid: number): string | undefined => {
  const processes = listProcesses();
  const family = new Set([pid]);
  // A process may have a lower id than the one that has started it.
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const one of processes) if (family.has(one.parent)) family.add(one.pid);
  }
  const own = processes.filter((one) => family.has(one.pid));
  if (own.some(({ state }) => /^[RDU]/.test(state))) return undefined;
  return own.map((one) => `${one.pid} ${one.cpu}`).join();
};
