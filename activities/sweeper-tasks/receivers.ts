import type { Notices } from '../../postgres/notices/notices.ts';
import type { Receivers } from '../../postgres/webhooks/receivers.ts';
import type { Log } from '../log.ts';

export interface Deps {
  receivers: Pick<Receivers, 'sweep'>;
  notices: Notices;
  now: () => Date;
  logger: Pick<Log, 'info'>;
}

/** Finds out which receivers accept their events, and writes the notices. A task, so that no delivery does more for it. */
export const createReceiverTask = ({ receivers, notices, now, logger }: Deps) => ({
  /** @returns how many receivers have become better or worse, and how many notices are due */
  async watchReceivers(): Promise<number> {
    const at = now();
    const changes = await receivers.sweep(at);
    for (const { application, test, state } of changes)
      logger.info(
        { application, test, state: state ?? 'unknown' },
        'The health of a receiver has changed',
      );
    // For each confirmed address, whatever this worker can send. A notice that no worker sends becomes an alert.
    const due = await notices.write(at);
    await notices.deleteOld(at);
    return changes.length + due;
  },
});
