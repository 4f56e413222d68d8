import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { type Lock, takeLock } from '../../../stack/lock.ts';
import { productionAtOnce } from './mixed-order.ts';

const take = async (): Promise<Lock> => {
  for (;;) {
    for (let turn = 1; turn <= productionAtOnce; turn += 1) {
      const lock = takeLock(join(inject('turns'), String(turn)));
      if (lock) return lock;
    }
    await sleep(500);
  }
};

/** Each file of production waits for one, and keeps it until its process ends. Exported, so that it lives as long. */
export const turn = await take();
