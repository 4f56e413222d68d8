import type { AuditAction } from '../../postgres/audit-log.ts';
import type { Page, PaymentInProgress } from '../../postgres/admin/reconciliation.ts';
import { createReconciliationQueries } from '../../postgres/admin/reconciliation.ts';
import type { TemporalAdmin, WorkflowSummary } from '../../temporal/admin-client.ts';
import { eventWorkflowId, latePaymentWorkflowId } from '../../temporal/start-options.ts';
import type { DifferenceKind } from './labels.ts';
import { Refusal } from './change.ts';
import type { Deps } from './deps.ts';

export interface Difference {
  kind: DifferenceKind;
  paymentId: string;
  application: string | null;
  orderId: string | null;
  /** The payment's status. `running` or `closed` for a workflow without a payment. */
  status: string;
  /**
   * The time at which the next step was or is due. For late money, the time at which it was found. For a
   * workflow without a payment, its start.
   */
  at: Date | null;
  /** Its workflow was started. */
  healed: boolean;
}

export interface Reconciliation {
  differences: Difference[];
  /** False if `limit` or `scan` was reached, or if it ended before its end: there may be more. */
  complete: boolean;
  /** Why it ended before its end; what it did until then stays done. */
  error?: unknown;
}

export interface ReconcileOptions {
  /** Finds closed workflows without a payment too, if they started after this. Null: running ones only. */
  since: Date | null;
  /** Maximum of differences. */
  limit: number;
  /** Maximum of payments, deliveries and workflows to read, each. */
  scan: number;
  /** Starts the workflows that are missing. */
  heal: boolean;
  reason: string | null;
  /** Ends it after the workflow that is being started. */
  signal?: AbortSignal | undefined;
}

const pageSize = 200;
const keyPageSize = 5_000;
/** For ended payments only keys are read, so a run reads far more of them. */
const keysPerScan = 100;

/** Compares the payments in Postgres with the workflows in Temporal. Never ends a workflow. */
export const createReconciliation =
  ({ sql, change, temporal: connect }: Pick<Deps, 'sql' | 'change' | 'temporal'>) =>
  async (options: ReconcileOptions): Promise<Reconciliation> => {
    const temporal = await connect();
    const queries = createReconciliationQueries(sql);
    const report = createReport(options.limit);
    const run = { temporal, queries, change, report, options };
    try {
      return await compareAll(run);
    } catch (cause) {
      const error = options.signal?.aborted ? interrupted() : cause;
      return { differences: report.differences, complete: false, error };
    }
  };

const interrupted = () =>
  new Refusal('Interrupted. Not everything was compared: there may be more differences.');

const compareAll = async (run: Run): Promise<Reconciliation> => {
  const { queries, temporal, report } = run;
  const paymentWorkflows = {
    stillInProgress: queries.filterInProgress,
    workflowId: ({ id, refundId, ownEventId }: PaymentInProgress) =>
      ownEventId ? eventWorkflowId(ownEventId) : (refundId ?? id),
    action: 'payment.heal' as const,
    start: temporal.restart,
  };
  const isComplete = [
    await compareWorkflows(run, {
      ...paymentWorkflows,
      list: queries.listOpen,
      missing: 'payment_without_workflow',
      overdue: 'payment_overdue',
    }),
    await compareWorkflows(run, {
      ...paymentWorkflows,
      list: queries.listUndelivered,
      missing: 'delivery_without_workflow',
      overdue: 'delivery_overdue',
    }),
    await compareWorkflows(run, {
      ...paymentWorkflows,
      list: queries.listRefunds,
      stillInProgress: queries.filterRefunding,
      missing: 'refund_without_workflow',
      overdue: null,
    }),
    await compareWorkflows(run, {
      list: queries.listLate,
      missing: 'late_payment_without_workflow',
      overdue: null,
      stillInProgress: queries.filterLate,
      workflowId: ({ id }) => latePaymentWorkflowId(id),
      action: 'payment.heal_late_payment',
      start: ({ id }) => temporal.startLatePayment(id),
    }),
    await findEndsWithoutDelivery(run),
    await findWrongTotals(run),
    await findWorkflowsWithoutPayment(run),
  ];
  return {
    differences: report.differences,
    complete: !report.isFull() && isComplete.every(Boolean),
  };
};

const createReport = (limit: number) => {
  const differences: Difference[] = [];
  let isFull = false;
  return {
    differences,
    isFull: () => isFull,
    /** @returns false if the report is full */
    add(difference: Difference): boolean {
      if (differences.length >= limit) isFull = true;
      else differences.push(difference);
      return !isFull;
    },
  };
};

interface Run extends Pick<Deps, 'change'> {
  temporal: TemporalAdmin;
  queries: ReturnType<typeof createReconciliationQueries>;
  report: ReturnType<typeof createReport>;
  options: ReconcileOptions;
}

/** Payments that need a running workflow. */
interface Expectation {
  list: (page: Page) => Promise<PaymentInProgress[]>;
  /** The ones that still need it. */
  stillInProgress: (paymentIds: readonly string[]) => Promise<Set<string>>;
  workflowId: (payment: PaymentInProgress) => string;
  /** The difference if the workflow does not run. */
  missing: DifferenceKind;
  /** The difference if it runs and the payment is overdue. */
  overdue: DifferenceKind | null;
  /** For the audit log. */
  action: AuditAction;
  start: (payment: PaymentInProgress) => Promise<void>;
}

/** @returns false if there may be more */
const compareWorkflows = async (run: Run, expectation: Expectation): Promise<boolean> => {
  const { report, options } = run;
  let after: PaymentInProgress | undefined;
  for (let left = options.scan; left > 0 && !report.isFull(); left -= pageSize) {
    const limit = Math.min(pageSize, left);
    const page = await expectation.list({ after, limit });
    await comparePage(run, expectation, page);
    if (page.length < limit) return true;
    after = page.at(-1);
  }
  return false;
};

/** Reads Postgres before and after Temporal: a payment that ended in between is no difference. */
const comparePage = async (
  run: Run,
  expectation: Expectation,
  page: readonly PaymentInProgress[],
): Promise<void> => {
  const { temporal, report, options } = run;
  const { workflowId, stillInProgress, missing, overdue } = expectation;
  options.signal?.throwIfAborted();
  const running = await temporal.running(page.map(workflowId));
  const isRunning = (payment: PaymentInProgress) => running.has(workflowId(payment));
  const suspects = page.filter((payment) => !isRunning(payment) || payment.overdue);
  const inProgress = await stillInProgress(suspects.map(({ id }) => id));
  for (const payment of suspects) {
    const isMissing = !isRunning(payment);
    const kind = isMissing ? missing : overdue;
    if (!kind || !inProgress.has(payment.id)) continue;
    options.signal?.throwIfAborted();
    const { id: paymentId, application, orderId, status, dueAt: at } = payment;
    const difference = { kind, paymentId, application, orderId, status, at, healed: false };
    if (!report.add(difference)) return;
    if (!options.heal || !isMissing) continue;
    await heal(run, expectation, payment);
    difference.healed = true;
  }
};

const heal = async (
  { change, options: { reason } }: Run,
  { action, start }: Expectation,
  payment: PaymentInProgress,
): Promise<void> => {
  await change({ action, subject: `payment:${payment.id}`, reason }, async () => {
    await start(payment);
    return { before: { workflow: null }, after: { workflow: 'running' } };
  });
};

/** @returns false if there may be more */
const findEndsWithoutDelivery = async ({ queries, report, options }: Run): Promise<boolean> => {
  let before: string | null = null;
  for (let left = options.scan * keysPerScan; left > 0 && !report.isFull(); left -= keyPageSize) {
    options.signal?.throwIfAborted();
    const limit = Math.min(keyPageSize, left);
    const page = await queries.listUnfinished(before, limit);
    for (const { id: paymentId, ...facts } of page.different)
      report.add({ kind: 'end_without_delivery', paymentId, ...facts, at: null, healed: false });
    if (page.examined < limit) return true;
    before = page.last;
  }
  return false;
};

/** @returns false if there may be more */
const findWrongTotals = async ({ queries, report, options }: Run): Promise<boolean> => {
  let after: string | null = null;
  for (let left = options.scan * keysPerScan; left > 0 && !report.isFull(); left -= keyPageSize) {
    options.signal?.throwIfAborted();
    const limit = Math.min(keyPageSize, left);
    const page = await queries.listWrongTotals(after, limit);
    for (const { id: paymentId, ...facts } of page.different)
      report.add({ kind: 'refund_totals_differ', paymentId, ...facts, at: null, healed: false });
    if (page.examined < limit) return true;
    after = page.last;
  }
  return false;
};

/** @returns false if there may be more */
const findWorkflowsWithoutPayment = async (run: Run): Promise<boolean> => {
  const { temporal, queries, report, options } = run;
  const reported = new Set<string>();
  const compare = async (workflows: readonly WorkflowSummary[]) => {
    const existing = await queries.filterExisting(workflows.map(({ paymentId }) => paymentId));
    for (const { paymentId, running, startedAt: at, ...facts } of workflows) {
      if (existing.has(paymentId) || reported.has(paymentId)) continue;
      reported.add(paymentId);
      const kind = 'workflow_without_payment';
      const status = running ? 'running' : 'closed';
      if (!report.add({ kind, paymentId, ...facts, status, at, healed: false })) return;
    }
  };
  let page: WorkflowSummary[] = [];
  let scanned = 0;
  for await (const workflow of temporal.list(options.since)) {
    options.signal?.throwIfAborted();
    scanned += 1;
    if (scanned > options.scan || report.isFull()) break;
    page.push(workflow);
    if (page.length < pageSize) continue;
    await compare(page);
    page = [];
  }
  await compare(page);
  return scanned <= options.scan;
};
