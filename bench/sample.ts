import { setTimeout as sleep } from 'node:timers/promises';
import { type Finished, perSecondOf } from './load.ts';
import { type Cpu, createCpuMeter, type Part, type Pids } from './processes.ts';

export interface Sample {
  perSecond: number;
  /** Of one piece of work. */
  cpu: Cpu;
}

/** What engine and database still do after the last answer belongs to it, and what is still logged. */
export const afterMs = 750;

/** What a stretch of work took of each process, for one piece of it. */
export const createSampler = () => {
  const cpu = createCpuMeter();
  return async (of: Pids, run: () => Promise<Finished>): Promise<Sample> => {
    const before = cpu(of);
    const finished = await run();
    await sleep(afterMs);
    const after = cpu(of);
    const each = (part: Part) => (after[part] - before[part]) / finished.count;
    return {
      perSecond: perSecondOf(finished),
      cpu: {
        api: each('api'),
        worker: each('worker'),
        temporal: each('temporal'),
        postgres: each('postgres'),
      },
    };
  };
};
