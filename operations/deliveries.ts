import { setTimeout as sleep } from 'node:timers/promises';
import { eventId } from '../contract/ids.ts';
import { createAdminPayments, type PaymentSummary } from '../postgres/admin-payments.ts';
import { createDeliveries } from '../postgres/deliveries.ts';
import type { Queries, Sql } from '../postgres/driver/sql.ts';
import type { TemporalAdmin } from '../temporal/admin-client.ts';
import { replayDelivery } from '../temporal/replay-delivery.ts';
import { findApplication } from './applications.ts';
import type { MakeChange } from './change.ts';
import { Refusal } from './change.ts';
import { Incomplete, interrupted } from './incomplete.ts';
import { ResetFailed, type ResetResult, type Resets } from './resets.ts';

export interface Deps {
  sql: Sql;
  change: MakeChange;
  /** @throws if Temporal cannot be reached */
  resets: () => Promise<Resets>;
  /** @throws if Temporal cannot be reached */
  temporal: () => Promise<Pick<TemporalAdmin, 'restart'>>;
  now: () => Date;
}

export type Retriggered =
  { id: string; result: ResetResult } | { id: string; result: 'refused'; why: string };

export interface Progress {
  done: number;
  total: number;
  refused: number;
}

export interface BulkOptions {
  /** A limit for the sake of the receivers and of Temporal. */
  perSecond: number;
  reason: string | null;
  /** Ends it after the payment that is being re-triggered. */
  signal?: AbortSignal | undefined;
  onProgress?: (progress: Progress) => void;
  /** Temporal resets nothing any more. The rest was not tried. */
  onStop?: (notTried: number) => void;
}

interface Bulk extends BulkOptions {
  ids: AsyncIterable<string> | Iterable<string>;
  total: number;
}

const pageSize = 100;
/** After this many failed resets in a row, the next one would fail too. */
const maxFailedInARow = 10;

export const createDeliveryOperations = ({ sql, change, resets, temporal, now }: Deps) => {
  const payments = createAdminPayments(sql);

  /**
   * Starts a new round of six attempts, with rising numbers. Two calls at once start one round: the second
   * call waits for the row, and finds the delivery pending.
   */
  const retrigger = async (id: string, reason: string | null): Promise<ResetResult> => {
    const subject = `payment:${id}`;
    const result = await change({ action: 'delivery.retrigger', subject, reason }, async (tx) => {
      const workflow = await replayDelivery(
        { paymentId: id, reason: reason ?? 'Re-triggered by an admin' },
        {
          beginRound: () =>
            createDeliveries(tx).beginRound(eventId(id), { trigger: 'admin', now: now() }),
          toDelivery: async (...args) => (await resets()).toDelivery(...args),
        },
      );
      if (!workflow) throw await refusalFor(tx, id);
      const after = { delivery: 'pending', workflow };
      return { result: workflow, before: { delivery: 'exhausted' }, after };
    });
    if (result === 'no_history') await startWorkflow(id);
    return result;
  };

  const startWorkflow = async (id: string): Promise<void> => {
    const payment = await payments.get(id);
    try {
      if (payment) await (await temporal()).restart(payment);
    } catch {
      // The sweeper starts it once the delivery is overdue.
    }
  };

  /** @throws Incomplete with the results until then */
  const retriggerEach = async (
    ids: AsyncIterable<string> | Iterable<string>,
    total: number,
    options: BulkOptions,
  ): Promise<Retriggered[]> => {
    const results: Retriggered[] = [];
    try {
      await retriggerInto(results, { ids, total, ...options });
    } catch (error) {
      if (!options.signal?.aborted) throw new Incomplete(results, error);
      throw interrupted(results, `Not tried: ${Math.max(0, total - results.length)}`);
    }
    return results;
  };

  const retriggerInto = async (
    results: Retriggered[],
    { ids, total, perSecond, reason, signal, onProgress, onStop }: Bulk,
  ): Promise<void> => {
    let refused = 0;
    let failedInARow = 0;
    let nextAt = performance.now();
    for await (const id of ids) {
      await sleep(Math.max(0, nextAt - performance.now()), undefined, { signal });
      nextAt = performance.now() + 1000 / perSecond;
      try {
        results.push({ id, result: await retrigger(id, reason) });
        failedInARow = 0;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        results.push({ id, result: 'refused', why: error.message });
        refused += 1;
        if (error instanceof ResetFailed) failedInARow += 1;
      }
      onProgress?.({ done: results.length, total, refused });
      if (failedInARow >= maxFailedInARow) {
        if (total > results.length) onStop?.(total - results.length);
        break;
      }
    }
  };

  /** Reads page by page after the last id: re-triggered payments leave the list while it is read. */
  async function* iterateExhausted(application: string): AsyncGenerator<string> {
    for (let after = ''; ;) {
      const ids = await payments.listExhausted(application, { after, limit: pageSize });
      yield* ids;
      const last = ids.at(-1);
      if (last === undefined || ids.length < pageSize) return;
      after = last;
    }
  }

  return {
    async listExhausted(application: string | null, limit: number): Promise<PaymentSummary[]> {
      if (application !== null) await findApplication(sql, application);
      const filter = { id: null, orderId: null, status: null, application };
      return payments.find({ ...filter, delivery: 'exhausted' }, limit);
    },

    retrigger,

    retriggerMany: (ids: readonly string[], options: BulkOptions) =>
      retriggerEach(ids, ids.length, options),

    async retriggerAll(application: string, options: BulkOptions): Promise<Retriggered[]> {
      await findApplication(sql, application);
      const total = await payments.countExhausted(application);
      return retriggerEach(iterateExhausted(application), total, options);
    },
  };
};

const refusalFor = async (tx: Queries, id: string): Promise<Refusal> => {
  const status = await createAdminPayments(tx).deliveryStatus(id);
  if (status === undefined) return new Refusal(`There is no payment ${id}.`);
  switch (status) {
    case null:
      return new Refusal(`${id} has not ended yet, so it has no event to deliver.`);
    case 'none':
      return new Refusal(
        `${id} has no delivery: its application had no webhook URL when the payment ended.`,
      );
    case 'delivered':
      return new Refusal(`The event of ${id} is already delivered.`);
    case 'pending':
      return new Refusal(`The delivery of ${id} is not exhausted: its attempts go on.`);
    case 'exhausted':
      // It became exhausted between the two statements.
      return new Refusal(`The delivery of ${id} has just become exhausted: try again.`);
  }
};
