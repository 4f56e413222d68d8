import type { Notices } from '../../postgres/notices.ts';
import type { Receivers } from '../../postgres/receivers.ts';
import type { Log } from '../log.ts';

export interface Deps {
  receivers: Pick<Receivers, 'sweep'>;
  notices: Notices;
  /** False without a mail server: then nothing is written that nobody would send. */
  sendsMail: boolean;
  now: () => Date;
  logger: Pick<Log, 'info'>;
}

/** Finds out which receivers accept their events, and tells their people. A task, so that no delivery does more for it. */
export const createReceiverTask = ({ receivers, notices, sendsMail, now, logger }: Deps) => ({
  /** @returns how many receivers have become better or worse, and how many notices are due */
  async watchReceivers(): Promise<number> {
    const at = now();
    const changes = await receivers.sweep(at);
    for (const { application, test, state } of changes)
      logger.info(
        { application, test, state: state ?? 'unknown' },
        'The health of a receiver has changed',
      );
    const due = sendsMail ? await notices.write(at) : 0;
    await notices.deleteOld(at);
    return changes.length + due;
  },
});
