import type { Sql } from '../postgres/driver/sql.ts';
import type { Page, PaymentInProgress } from '../postgres/reconciliation.ts';
import { createReconciliationQueries } from '../postgres/reconciliation.ts';
import { latePaymentStartOptions } from '../temporal/messages.ts';
import type { MakeChange } from './change.ts';
import type { Engine, WorkflowSummary } from '../temporal/admin-client.ts';

export interface Deps {
  sql: Sql;
  change: MakeChange;
  /** @throws where Temporal cannot be reached */
  engine: () => Promise<Engine>;
}

/**
 * `payment_without_workflow`: open, and nobody works on it.
 * `delivery_without_workflow`: ended, neither delivered nor exhausted, and nobody works on it.
 * `late_payment_without_workflow`: money was found after the end, and nobody has it given back.
 * `delivery_overdue`: more than 2 minutes late, though its workflow runs: its workers are behind.
 * `payment_overdue`: should have ended 20 minutes ago, its workflow runs and asks no gateway: after a
 * restore it may be past the end that Postgres has lost. A reset to its first task takes it up.
 * `end_without_delivery`: ended without an event or a delivery, which no statement of ours can write.
 * `workflow_without_payment`: in the engine alone.
 */
export type DifferenceKind =
  | 'payment_without_workflow'
  | 'delivery_without_workflow'
  | 'late_payment_without_workflow'
  | 'delivery_overdue'
  | 'payment_overdue'
  | 'end_without_delivery'
  | 'workflow_without_payment';

export interface Difference {
  kind: DifferenceKind;
  paymentId: string;
  application: string | null;
  orderId: string | null;
  /** Of the payment; of a workflow without one `running` or `closed`. */
  status: string;
  /**
   * When the next thing was or is due; of late money when it was found, of a workflow without a
   * payment when it began.
   */
  at: Date | null;
  /** Its workflow was started: the one right answer. False where there is none. */
  mended: boolean;
}

export interface Reconciliation {
  differences: Difference[];
  /** False where `limit` or `look` was met: there may be more. */
  complete: boolean;
}

export interface ReconcileOptions {
  /** Looks also for closed workflows without a record that began since then; null: at running ones. */
  since: Date | null;
  /** Differences at most. */
  limit: number;
  /** Payments, deliveries and workflows looked at, of each at most. */
  look: number;
  mend: boolean;
  reason: string | null;
}

const pageSize = 200;
const newestPage = 5_000;
/** Of the newest payments only keys are read: a run looks at far more of them. */
const keysPerLook = 100;

/** What a workflow is to work on. */
interface Watched {
  list: (page: Page) => Promise<PaymentInProgress[]>;
  /** Of these payments, those for which that is still so. */
  filterInProgress: (paymentIds: readonly string[]) => Promise<Set<string>>;
  workflowId: (paymentId: string) => string;
  /** What it is where that workflow does not run. */
  lost: DifferenceKind;
  /** What it is where it runs, and is overdue nevertheless. */
  late: DifferenceKind | null;
  /** For the audit log. */
  action: string;
  start: (payment: PaymentInProgress) => Promise<void>;
}

/** Compares what Postgres shows with what Temporal does. Nothing of Temporal's is ever ended. */
export const createReconciliation =
  ({ sql, change, engine }: Deps) =>
  async ({ since, limit, look, mend, reason }: ReconcileOptions): Promise<Reconciliation> => {
    const temporal = await engine();
    const queries = createReconciliationQueries(sql);
    const differences: Difference[] = [];
    let isFull = false;

    /** @returns false once there is no place for another one */
    const add = (difference: Difference): boolean => {
      if (differences.length >= limit) isFull = true;
      else differences.push(difference);
      return !isFull;
    };

    const heal = async (payment: PaymentInProgress, { action, start }: Watched): Promise<void> => {
      const subject = `payment:${payment.id}`;
      await change({ action, subject, reason }, async () => {
        await start(payment);
        return { result: undefined, before: { workflow: null }, after: { workflow: 'running' } };
      });
    };

    /** The record is read before and after the engine: what ended meanwhile is no difference. */
    const compare = async (page: readonly PaymentInProgress[], watched: Watched): Promise<void> => {
      const running = await temporal.running(page.map(({ id }) => watched.workflowId(id)));
      const isRunning = ({ id }: PaymentInProgress) => running.has(watched.workflowId(id));
      const suspect = page.filter((one) => !isRunning(one) || one.overdue);
      const still = await watched.filterInProgress(suspect.map(({ id }) => id));
      for (const one of suspect) {
        const isAlone = !isRunning(one);
        const kind = isAlone ? watched.lost : watched.late;
        if (!kind || !still.has(one.id)) continue;
        const { id: paymentId, application, orderId, status, dueAt: at } = one;
        const mended = mend && isAlone;
        if (!add({ kind, paymentId, application, orderId, status, at, mended })) return;
        if (mended) await heal(one, watched);
      }
    };

    /** @returns false where there may be more: what is behind that is of this list alone */
    const compareAll = async (watched: Watched): Promise<boolean> => {
      let after: PaymentInProgress | undefined;
      for (let left = look; left > 0 && !isFull; left -= pageSize) {
        const size = Math.min(pageSize, left);
        const page = await watched.list({ after, limit: size });
        await compare(page, watched);
        if (page.length < size) return true;
        after = page.at(-1);
      }
      return false;
    };

    const findUnfinished = async (): Promise<boolean> => {
      let before: string | null = null;
      for (let left = look * keysPerLook; left > 0 && !isFull; left -= newestPage) {
        const size = Math.min(newestPage, left);
        const page = await queries.listUnfinished(before, size);
        for (const { id, ...facts } of page.unfinished)
          add({ kind: 'end_without_delivery', paymentId: id, ...facts, at: null, mended: false });
        if (page.examined < size) return true;
        before = page.last;
      }
      return false;
    };

    const findUnrecorded = async (): Promise<boolean> => {
      const told = new Set<string>();
      let batch: WorkflowSummary[] = [];
      const lookUp = async () => {
        const existing = await queries.filterExisting(batch.map(({ paymentId }) => paymentId));
        for (const { paymentId, running, startedAt: at, ...facts } of batch) {
          if (existing.has(paymentId) || told.has(paymentId)) continue;
          told.add(paymentId);
          const kind = 'workflow_without_payment';
          const status = running ? 'running' : 'closed';
          if (!add({ kind, paymentId, ...facts, status, at, mended: false })) break;
        }
        batch = [];
      };
      let looked = 0;
      for await (const line of temporal.list(since)) {
        looked += 1;
        if (looked > look || isFull) break;
        batch.push(line);
        if (batch.length === pageSize) await lookUp();
      }
      await lookUp();
      return looked <= look;
    };

    const ofPayments = {
      filterInProgress: queries.filterInProgress,
      workflowId: (id: string) => id,
      action: 'payment.heal',
      start: temporal.start,
    };
    const seen = [
      await compareAll({
        ...ofPayments,
        list: queries.listOpen,
        lost: 'payment_without_workflow',
        late: 'payment_overdue',
      }),
      await compareAll({
        ...ofPayments,
        list: queries.listUndelivered,
        lost: 'delivery_without_workflow',
        late: 'delivery_overdue',
      }),
      await compareAll({
        list: queries.listLate,
        lost: 'late_payment_without_workflow',
        late: null,
        filterInProgress: queries.filterLate,
        workflowId: (id) => latePaymentStartOptions(id).workflowId,
        action: 'payment.heal_late_payment',
        start: ({ id }) => temporal.startLate(id),
      }),
      await findUnfinished(),
      await findUnrecorded(),
    ];
    return { differences, complete: !isFull && seen.every(Boolean) };
  };
