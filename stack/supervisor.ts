import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from './launch.ts';

export interface Supervisor {
  /**
   * Starts it, and from then on again whenever it ends. A start ends early when the signal is
   * aborted. Rejects when the first start does.
   */
  keep<R extends Running>(service: Service<R>): Promise<R>;
  /** Due after the signal, also for what is just being started or was never kept. */
  stop: (name: string) => Promise<void>;
}

export interface Service<R extends Running> {
  name: string;
  start: (signal: AbortSignal) => Promise<R>;
  /** Names of what must be up before it is started again: without it, it would only die once more. */
  needs?: string[];
}

export interface SupervisorOptions {
  say: (line: string) => void;
  /** Called once with a sentence when something dies again and again. */
  giveUp: (reason: string) => void;
  /** From then on nothing is started any more. */
  signal: AbortSignal;
}

const deaths = { most: 5, withinMs: 60_000 };
const delaysMs = { first: 250, longest: 8000 };

interface Kept {
  /** Over when the first start has succeeded or failed. */
  started: Promise<unknown>;
  running?: Running;
  /** Over when it is stopped for good. */
  watch?: Promise<void>;
}

export const createSupervisor = (options: SupervisorOptions): Supervisor => {
  const all = new Map<string, Kept>();
  return {
    async keep(service) {
      const { name, needs = [] } = service;
      const first = service.start(options.signal);
      const kept: Kept = { started: Promise.allSettled([first]) };
      all.set(name, kept);
      const running = await first;
      kept.running = running;
      const needed = () =>
        needs.flatMap((other) => all.get(other) ?? []).map((each) => each.running);
      kept.watch = watch({ ...service, kept, needed }, options);
      return running;
    },
    async stop(name) {
      const kept = all.get(name);
      await kept?.started;
      await kept?.running?.stop();
      await kept?.watch;
    },
  };
};

interface Watched extends Service<Running> {
  kept: Kept;
  /** What it needs as that runs now; undefined for what is down. */
  needed: () => (Running | undefined)[];
}

const watch = async (
  { name, start, kept, needed }: Watched,
  { say, giveUp, signal }: SupervisorOptions,
) => {
  let recent: number[] = [];
  let startedOn = needed();
  let how = await kept.running?.exited;
  while (!signal.aborted) {
    delete kept.running;
    recent = recent.filter((at) => Date.now() - at < deaths.withinMs);
    // What died with what it needs did not die of itself.
    const now = needed();
    if (now.every((running, index) => running && running === startedOn[index]))
      recent.push(Date.now());
    if (recent.length > deaths.most) {
      giveUp(`${name} ended ${recent.length} times within a minute; the last time it ${how}.`);
      return;
    }
    const delayMs = Math.min(
      delaysMs.first * 2 ** Math.max(recent.length - 1, 0),
      delaysMs.longest,
    );
    say(`${name} ${how}; starting it again in ${delayMs / 1000} s`);
    await sleep(delayMs, undefined, { signal }).catch(() => {});
    while (!signal.aborted && needed().includes(undefined)) await sleep(50);
    if (signal.aborted) return;
    startedOn = needed();
    try {
      kept.running = await start(signal);
      if (signal.aborted) return await kept.running.stop();
      say(`${name} is up again`);
      how = await kept.running.exited;
    } catch (error) {
      how = howItFailed(name, error);
    }
  }
};

const howItFailed = (name: string, error: unknown): string => {
  const message = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
  return message.startsWith(`${name} `)
    ? message.slice(name.length + 1)
    : `did not start: ${message}`;
};
