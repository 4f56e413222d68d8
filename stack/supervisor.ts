import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from './launch.ts';

export interface Supervisor {
  /**
   * Starts it, and from then on again whenever it ends. The signal is for a start that is no longer
   * wanted. Rejects when the first start does.
   */
  keep<R extends Running>(name: string, start: (signal: AbortSignal) => Promise<R>): Promise<R>;
  /** Also one that is just being started; does nothing for what was never kept. */
  stop: (name: string) => Promise<void>;
}

export interface SupervisorOptions {
  say: (line: string) => void;
  /** Called once with a sentence when something dies again and again. */
  giveUp: (reason: string) => void;
}

const deaths = { most: 5, withinMs: 60_000 };
const delaysMs = { first: 250, longest: 8000 };

interface Kept {
  abort: AbortController;
  running: Running | undefined;
  /** Over when it is stopped for good. */
  watch: Promise<void>;
}

export const createSupervisor = (options: SupervisorOptions): Supervisor => {
  const all = new Map<string, Kept>();
  return {
    async keep(name, start) {
      const kept: Kept = {
        abort: new AbortController(),
        running: undefined,
        watch: Promise.resolve(),
      };
      all.set(name, kept);
      const first = start(kept.abort.signal);
      // A stop in the middle of the first start waits for what that has begun.
      kept.watch = settled(first);
      const running = await first;
      kept.running = running;
      kept.watch = watch(name, kept, start, options);
      if (kept.abort.signal.aborted) await running.stop();
      return running;
    },
    async stop(name) {
      const kept = all.get(name);
      if (!kept) return;
      kept.abort.abort();
      await kept.running?.stop();
      await kept.watch;
    },
  };
};

const settled = async (work: Promise<unknown>) => {
  await Promise.allSettled([work]);
};

const watch = async (
  name: string,
  kept: Kept,
  start: (signal: AbortSignal) => Promise<Running>,
  { say, giveUp }: SupervisorOptions,
) => {
  const { signal } = kept.abort;
  let recent: number[] = [];
  let how = await kept.running?.exited;
  while (!signal.aborted) {
    recent = [...recent.filter((at) => Date.now() - at < deaths.withinMs), Date.now()];
    if (recent.length > deaths.most) {
      giveUp(`${name} ended ${recent.length} times within a minute; the last time it ${how}.`);
      return;
    }
    const delayMs = Math.min(delaysMs.first * 2 ** (recent.length - 1), delaysMs.longest);
    say(`${name} ${how}; starting it again in ${delayMs / 1000} s`);
    await sleep(delayMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    kept.running = undefined;
    try {
      kept.running = await start(signal);
      if (signal.aborted) return await kept.running.stop();
      say(`${name} is up again`);
      how = await kept.running.exited;
    } catch (error) {
      how = `did not start (${error instanceof Error ? error.message : String(error)})`;
    }
  }
};
