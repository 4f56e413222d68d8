import type { Receivers } from '../../postgres/receivers.ts';
import type { Log } from '../log.ts';

export interface Deps {
  receivers: Pick<Receivers, 'sweep'>;
  now: () => Date;
  logger: Pick<Log, 'info'>;
}

/** Finds out which receivers accept their events. A task, so that no delivery does more for it. */
export const createReceiverTask = ({ receivers, now, logger }: Deps) => ({
  /** @returns how many receivers have become better or worse */
  async watchReceivers(): Promise<number> {
    const changes = await receivers.sweep(now());
    for (const { application, test, state } of changes)
      logger.info(
        { application, test, state: state ?? 'unknown' },
        'The health of a receiver has changed',
      );
    return changes.length;
  },
});
