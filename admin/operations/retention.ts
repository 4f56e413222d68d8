import { dayMs, isoTime } from '../../contract/time.ts';
import { createRetention } from '../../postgres/admin/retention.ts';
import { type Change, recordFailure, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

export interface Purged {
  attemptBodies: number;
  payments: number;
}

const batchSize = 1_000;

/**
 * Deletes data that is older than the policy allows, at most `limit` payments and as many response bodies, and empties
 * reasons that are as old as deleted payments. Safe to interrupt.
 * @throws Refusal with a login that may delete nothing
 */
export const createPurge =
  ({ sql, change, retention, now }: Pick<Deps, 'sql' | 'change' | 'retention' | 'now'>) =>
  async (limit: number, reason: string | null): Promise<Purged> => {
    const queries = createRetention(sql);
    // Before the record of it.
    const refused = await queries.findRefusedLogin();
    if (refused !== undefined)
      throw new Refusal(
        `The login ${refused} may delete nothing: run the purge with the DATABASE_URL of a login in payments_retention.`,
      );
    const ago = (days: number) => new Date(now().getTime() - days * dayMs);
    const bodiesBefore = ago(retention.attemptBodyDays);
    const paymentsBefore = retention.paymentDays === null ? null : ago(retention.paymentDays);
    const purging: Change = { action: 'retention.purge', subject: 'retention', reason };
    await change(purging, async () => ({
      before: null,
      after: {
        attempt_bodies_before: isoTime(bodiesBefore),
        payments_before: paymentsBefore && isoTime(paymentsBefore),
      },
    }));
    const deleteAll = async (deleteBatch: (size: number) => Promise<number>): Promise<number> => {
      for (let deleted = 0; ;) {
        const size = Math.min(batchSize, limit - deleted);
        const count = size > 0 ? await deleteBatch(size) : 0;
        // A smaller batch may not be the last: it skips payments that an admin is just replaying.
        if (count === 0) return deleted;
        deleted += count;
      }
    };
    return recordFailure(change, purging, async () => {
      let isOld = paymentsBefore !== null;
      while (isOld && paymentsBefore)
        isOld = (await queries.forgetReasons(paymentsBefore, batchSize)) > 0;
      const attemptBodies = await deleteAll((size) =>
        queries.deleteResponseBodies(bodiesBefore, size),
      );
      const payments = paymentsBefore
        ? await deleteAll((size) => queries.deletePayments(paymentsBefore, size))
        : 0;
      // After their payments.
      if (paymentsBefore)
        for (let link: string | null = ''; link !== null;)
          link = await queries.deleteLinks(paymentsBefore, link, batchSize);
      if (Math.max(attemptBodies, payments) < limit) await queries.recordPurge();
      return { attemptBodies, payments };
    });
  };
