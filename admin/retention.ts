import { isoTime } from '../contract/time.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createRetention } from '../postgres/retention.ts';
import type { MakeChange } from './change.ts';

export interface RetentionPolicy {
  attemptBodyDays: number;
  /** Null: payments are kept. */
  paymentDays: number | null;
}

export interface Deps {
  sql: Sql;
  change: MakeChange;
  retention: RetentionPolicy;
  now: () => Date;
}

export interface Purged {
  attemptBodies: number;
  payments: number;
}

const batch = 1_000;
const dayMs = 24 * 3_600_000;

/** Drops what the policy does not keep, `limit` of each kind at most. Harmless when it is cut off. */
export const createPurge =
  ({ sql, change, retention, now }: Deps) =>
  async (limit: number, reason: string | null): Promise<Purged> => {
    const records = createRetention(sql);
    const ago = (days: number) => new Date(now().getTime() - days * dayMs);
    const bodiesBefore = ago(retention.attemptBodyDays);
    const paymentsBefore = retention.paymentDays === null ? null : ago(retention.paymentDays);
    await change({ action: 'retention.purge', subject: 'retention', reason }, async () => ({
      result: undefined,
      before: null,
      after: {
        attempt_bodies_before: isoTime(bodiesBefore),
        payments_before: paymentsBefore && isoTime(paymentsBefore),
      },
    }));
    const dropAll = async (drop: (size: number) => Promise<number>): Promise<number> => {
      for (let dropped = 0; ;) {
        const size = Math.min(batch, limit - dropped);
        const done = size > 0 ? await drop(size) : 0;
        // Fewer are not the last: what an admin is just re-triggering is left out.
        if (done === 0) return dropped;
        dropped += done;
      }
    };
    return {
      attemptBodies: await dropAll((size) => records.deleteResponseBodies(bodiesBefore, size)),
      payments: paymentsBefore
        ? await dropAll((size) => records.deletePayments(paymentsBefore, size))
        : 0,
    };
  };
