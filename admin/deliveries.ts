import { setTimeout as sleep } from 'node:timers/promises';
import type { Queries, Sql } from '../postgres/driver/sql.ts';
import { createDeliveries } from '../postgres/deliveries.ts';
import { createAdminPayments, type PaymentSummary } from '../postgres/admin-payments.ts';
import { findApplication } from './applications.ts';
import type { MakeChange } from './change.ts';
import { Refusal } from './change.ts';
import type { Engine } from '../temporal/admin-client.ts';
import { type Reset, ResetFailed, type Resets } from './resets.ts';

export interface Deps {
  sql: Sql;
  change: MakeChange;
  /** @throws where Temporal cannot be reached */
  resets: () => Promise<Resets>;
  /** @throws where Temporal cannot be reached */
  engine: () => Promise<Pick<Engine, 'start'>>;
  now: () => Date;
}

export type Retriggered =
  { id: string; done: Reset } | { id: string; done: 'refused'; why: string };

export interface Progress {
  done: number;
  total: number;
  refused: number;
}

export interface Many {
  /** At most; the receivers and the engine have other work too. */
  perSecond: number;
  reason: string | null;
  onProgress?: (progress: Progress) => void;
  /** Temporal does not reset anything: the rest is left as it is. */
  onStop?: (notTried: number) => void;
}

const batch = 100;
/** So many in a row that Temporal did not reset mean that it will not reset the next one either. */
const failedInARow = 10;

export const createDeliveryOperations = ({ sql, change, resets, engine, now }: Deps) => {
  const records = createAdminPayments(sql);

  /**
   * Six new attempts, numbers going on. Two at once cause one: the second waits for the first's row
   * and finds it pending.
   */
  const retrigger = async (id: string, reason: string | null): Promise<Reset> => {
    const subject = `payment:${id}`;
    const done = await change({ action: 'delivery.retrigger', subject, reason }, async (tx) => {
      if (!(await createDeliveries(tx).beginRound(id, now()))) throw await refusalFor(tx, id);
      // Within the transaction: where the reset fails, the delivery stays exhausted.
      const temporal = await resets();
      const result = await temporal.toDelivery(id, reason ?? 'Re-triggered by an admin');
      const after = { delivery: 'pending', workflow: result };
      return { result, before: { delivery: 'exhausted' }, after };
    });
    if (done === 'left') await startAnew(id);
    return done;
  };

  /** Where there is no history to reset: the sweep would start it too, once it is overdue. */
  const startAnew = async (id: string): Promise<void> => {
    const payment = await records.get(id);
    try {
      if (payment) await (await engine()).start(payment);
    } catch {
      // Nothing is lost, and the admin has what was asked for.
    }
  };

  const retriggerEach = async (
    ids: AsyncIterable<string> | Iterable<string>,
    total: number,
    { perSecond, reason, onProgress, onStop }: Many,
  ): Promise<Retriggered[]> => {
    const results: Retriggered[] = [];
    let refused = 0;
    let inARow = 0;
    let nextAt = performance.now();
    for await (const id of ids) {
      await sleep(Math.max(0, nextAt - performance.now()));
      nextAt = performance.now() + 1000 / perSecond;
      try {
        results.push({ id, done: await retrigger(id, reason) });
        inARow = 0;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        results.push({ id, done: 'refused', why: error.message });
        refused += 1;
        if (error instanceof ResetFailed) inARow += 1;
      }
      onProgress?.({ done: results.length, total, refused });
      if (inARow >= failedInARow) {
        if (total > results.length) onStop?.(total - results.length);
        break;
      }
    }
    return results;
  };

  /** Page by page: what is re-triggered meanwhile leaves the list, and the last id leads on. */
  async function* exhaustedOf(application: string): AsyncGenerator<string> {
    for (let after = ''; ;) {
      const ids = await records.listExhausted(application, { after, limit: batch });
      yield* ids;
      const last = ids.at(-1);
      if (last === undefined || ids.length < batch) return;
      after = last;
    }
  }

  return {
    async listExhausted(application: string | null, limit: number): Promise<PaymentSummary[]> {
      if (application !== null) await findApplication(sql, application);
      const filter = { id: null, orderId: null, status: null, application };
      return records.find({ ...filter, delivery: 'exhausted' }, limit);
    },

    retrigger,

    retriggerMany: (ids: readonly string[], how: Many) => retriggerEach(ids, ids.length, how),

    async retriggerAll(application: string, how: Many): Promise<Retriggered[]> {
      await findApplication(sql, application);
      const total = await records.countExhausted(application);
      return retriggerEach(exhaustedOf(application), total, how);
    },
  };
};

const refusalFor = async (tx: Queries, id: string): Promise<Refusal> => {
  const status = await createAdminPayments(tx).deliveryStatus(id);
  if (status === undefined) return new Refusal(`There is no payment ${id}.`);
  switch (status) {
    case null:
      return new Refusal(`${id} has not ended yet, so there is nothing to deliver.`);
    case 'none':
      return new Refusal(
        `${id} has no delivery: its application had no webhook URL when the payment ended.`,
      );
    case 'delivered':
      return new Refusal(`The event of ${id} is delivered: there is nothing to re-trigger.`);
    case 'pending':
      return new Refusal(`The delivery of ${id} is not exhausted: its attempts are going on.`);
    case 'exhausted':
      // Between the two statements; the next try finds it.
      return new Refusal(`The delivery of ${id} has just become exhausted: try again.`);
  }
};
