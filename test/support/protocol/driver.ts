import { ApplicationFailure } from '@temporalio/common';
import type { Trace } from './traces.ts';

/**
 * Does a try's work of one step, e.g. a call to the gateway, and keeps the result until the trace goes on with the try.
 * @param goesOn whether the step has more work than this
 */
export type Stop = <T>(
  work: (step: string) => Promise<T>,
  goesOn?: (step: string) => boolean,
) => Promise<T>;

/** Carries out the steps of a part on the real code. */
export interface Driver<S> {
  /**
   * Runs the activity of a try, with a stop after each of its steps.
   * @param name a try that Temporal gives up gets another one
   * @param step the first one
   */
  run: (name: () => string | undefined, before: S, stop: Stop, step: string) => Promise<unknown>;
  /** The try of a step, if any; by default the name in brackets. */
  tryOf?: (step: string) => string | undefined;
  /** A step that no try takes: of the payer, the gateway, Temporal or an operator. */
  happen: (step: string, before: S, after: S) => unknown;
  /** Reads the variables of the state that the code shows. */
  observe: () => Promise<Partial<S>>;
}

/** The write, with a stop after it where the model has one. */
export const stopAfter =
  <A extends unknown[], R>(
    stop: Stop,
    write: (...args: A) => Promise<R>,
    hasStop: (result: R) => boolean = () => true,
  ) =>
  async (...args: A): Promise<R> => {
    const result = await write(...args);
    return hasStop(result) ? stop(async () => result) : result;
  };

class Crash extends Error {}

const startTry = (run: (stop: Stop) => Promise<unknown>) => {
  let current = '';
  let hasCrashed = false;
  let isOver = false;
  let failure: unknown;
  let release = () => {};
  let stopped = () => {};

  const stop: Stop = async (work, goesOn = () => false) => {
    if (hasCrashed) throw new Crash();
    const done = await work(current).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (!goesOn(current)) {
      const released = new Promise<void>((resolve) => (release = resolve));
      stopped();
      await released;
    }
    if (hasCrashed) throw new Crash();
    if ('error' in done) throw done.error;
    return done.value;
  };
  const begin = () =>
    run(stop)
      .catch((error: unknown) => {
        // An activity also ends by a failure that tells Temporal when to retry it.
        if (!hasCrashed && !(error instanceof ApplicationFailure)) failure = error;
      })
      .finally(() => {
        isOver = true;
        stopped();
      });
  let isNew = true;
  return {
    isOver: () => isOver,
    /** Lets the activity go on until its next stop, or its end. */
    async goOn(step: string): Promise<void> {
      if (isOver) throw new Error('the activity has ended');
      current = step;
      hasCrashed = step.startsWith('crash');
      const untilStop = new Promise<void>((resolve) => (stopped = resolve));
      if (isNew) void begin();
      else release();
      isNew = false;
      await untilStop;
      if (failure) throw failure;
    },
  };
};

type Try = ReturnType<typeof startTry>;

const nameInBrackets = (step: string): string | undefined => /\(([^)]+)\)$/.exec(step)?.[1];

/** Carries out a trace. @returns the first difference */
export const drive = async <S extends object>(
  trace: Trace<S>,
  { run, tryOf = nameInBrackets, happen, observe }: Driver<S>,
): Promise<string | undefined> => {
  const tries = new Map<string, Try>();
  const nameOf = (running: Try) => () => [...tries].find(([, each]) => each === running)?.[0];

  const take = async (step: string, before: S, after: S): Promise<void> => {
    const name = tryOf(step);
    if (step.startsWith('Temporal gives up')) {
      const from = nameInBrackets(step) ?? 'a';
      const given = tries.get(from);
      tries.delete(from);
      if (given) tries.set(from === 'a' ? 'b' : `${from} old`, given);
    } else if (name === undefined) await happen(step, before, after);
    else {
      const running: Try =
        tries.get(name) ?? startTry((stop) => run(nameOf(running), before, stop, step));
      tries.set(name, running);
      await running.goOn(step);
      if (running.isOver()) tries.delete(name);
    }
  };

  /** A try runs in the code while the model has it running. */
  const wrongTries = (after: S): string[] =>
    Object.entries(after).flatMap(([variable, value]) => {
      if (!variable.endsWith('_at')) return [];
      const name = variable.slice(0, -'_at'.length).replace('_', ' ');
      if ((value === 'idle') !== tries.has(name)) return [];
      return [`the try ${name} is ${value === 'idle' ? 'still running' : 'over'}`];
    });

  let difference: string | undefined;
  for (const [at, { step, before, after }] of trace.entries()) {
    let found: string[];
    try {
      await take(step, before, after);
      const seen = Object.entries(await observe()).flatMap(([name, value]) => {
        const said = after[name as keyof S];
        return said === value ? [] : [`${name} is ${String(value)} and not ${String(said)}`];
      });
      found = [...seen, ...wrongTries(after)];
    } catch (error) {
      found = [String(error)];
    }
    if (found.length > 0) {
      const steps = trace
        .slice(0, at + 1)
        .map((line, n) => `${String(n + 1).padStart(4)}  ${line.step}`);
      difference = [`${found.join(', ')} after step ${at + 1}, "${step}"`, ...steps].join('\n');
      break;
    }
  }
  for (const running of tries.values()) await running.goOn('crash').catch(() => {});
  return difference;
};
