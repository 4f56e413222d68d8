import { describe, expect, it } from 'vitest';
import type { Running } from '../../../stack/launch.ts';
import { createSupervisor } from '../../../stack/supervisor.ts';
import { until } from '../../support/until.ts';

/** A process that is up as soon as it is started, and ends when it is told to. */
const aProcess = () => {
  const starts: ((how: string) => void)[] = [];
  const start = (): Promise<Running> => {
    const { promise: exited, resolve } = Promise.withResolvers<string>();
    starts.push(resolve);
    return Promise.resolve({ pid: 0, exited, stop: async () => resolve('was stopped') });
  };
  return {
    start,
    starts,
    /** Ends it, and waits for the next one. */
    async die() {
      const { length } = starts;
      starts.at(-1)?.('died');
      await until('it is started again', () => starts.length > length);
    },
  };
};

const aSupervisor = () => {
  const gaveUp: string[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const giveUp = (reason: string) => gaveUp.push(reason);
  const supervisor = createSupervisor({ say: () => {}, giveUp, signal });
  return { supervisor, gaveUp, [Symbol.dispose]: () => stopping.abort() };
};

describe('the supervisor', () => {
  it('holds no death against a process whose engine died under it', async () => {
    using setup = aSupervisor();
    const { supervisor, gaveUp } = setup;
    const engine = aProcess();
    const worker = aProcess();
    await supervisor.keep({ name: 'engine', start: engine.start });
    await supervisor.keep({ name: 'worker', start: worker.start, needs: ['engine'] });

    for (let death = 0; death < 3; death += 1) await worker.die();
    for (let death = 0; death < 3; death += 1) await Promise.all([engine.die(), worker.die()]);

    expect(gaveUp).toEqual([]);
  });

  it('starts a process only while what it needs is up', async () => {
    using setup = aSupervisor();
    const { supervisor } = setup;
    const engine = aProcess();
    const worker = aProcess();
    const startedWhen: number[] = [];
    await supervisor.keep({ name: 'engine', start: engine.start });
    await supervisor.keep({
      name: 'worker',
      start: () => {
        startedWhen.push(engine.starts.length);
        return worker.start();
      },
      needs: ['engine'],
    });

    await engine.die();
    await engine.die();
    await Promise.all([engine.die(), worker.die()]);

    expect(startedWhen).toEqual([1, 4]);
  });
});
