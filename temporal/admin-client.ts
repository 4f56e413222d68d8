import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowStart } from '../contract/payment.ts';
import {
  latePaymentStartOptions,
  latePaymentWorkflow,
  paymentWorkflow,
  searchAttributes,
  paymentStartOptions,
} from './messages.ts';

/** A workflow as the engine lists it. */
export interface WorkflowSummary {
  paymentId: string;
  running: boolean;
  /** Null for a search for late money, which does not carry them. */
  application: string | null;
  orderId: string | null;
  startedAt: Date;
}

/** The engine's side of what is compared. */
export interface Engine {
  /** Workflows of payments that run, and those closed ones that began since then; the newest first. */
  list(since: Date | null): AsyncIterable<WorkflowSummary>;
  /** Of these workflows, those that run. */
  running(workflowIds: readonly string[]): Promise<Set<string>>;
  /** Starts a payment's workflow where none runs; one that runs is left alone. */
  start(facts: WorkflowStart): Promise<void>;
  /** Has somebody look for money that came after the payment's end. Harmless when that runs. */
  startLate(paymentId: string): Promise<void>;
}

const deadlineMs = 5_000;
const pageSize = 500;
const asksAtOnce = 10;
const lateId = new RegExp(`^${latePaymentStartOptions('').workflowId}`);

export const createTemporalAdmin = (client: Client): Engine => {
  const within = <T>(work: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + deadlineMs, work);

  const isRunning = async (id: string): Promise<boolean> => {
    try {
      const { status } = await within(() => client.workflow.getHandle(id).describe());
      return status.name === 'RUNNING';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };

  return {
    async *list(since) {
      const types = `WorkflowType IN ('${paymentWorkflow}', '${latePaymentWorkflow}')`;
      const closed = since ? ` OR StartTime >= '${since.toISOString()}'` : '';
      const query = `${types} AND (ExecutionStatus = 'Running'${closed})`;
      for await (const found of client.workflow.list({ query, pageSize })) {
        const { workflowId, status, startTime, typedSearchAttributes: attributes } = found;
        yield {
          paymentId: workflowId.replace(lateId, ''),
          running: status.name === 'RUNNING',
          application: attributes.get(searchAttributes.application) ?? null,
          orderId: attributes.get(searchAttributes.orderId) ?? null,
          startedAt: startTime,
        };
      }
    },

    /** The list is cheap and lags behind; whoever is not in it is asked about by itself. */
    async running(workflowIds) {
      const running = new Set<string>();
      if (workflowIds.length === 0) return running;
      const names = workflowIds.map((id) => `'${id}'`).join(', ');
      const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${names})`;
      for await (const { workflowId } of client.workflow.list({ query, pageSize }))
        running.add(workflowId);
      const unlisted = workflowIds.filter((id) => !running.has(id)).values();
      const lane = async () => {
        for (const id of unlisted) if (await isRunning(id)) running.add(id);
      };
      await Promise.all(Array.from({ length: asksAtOnce }, lane));
      return running;
    },

    async start(facts) {
      await within(() =>
        client.workflow.start(paymentWorkflow, paymentStartOptions(facts, { again: true })),
      );
    },

    async startLate(paymentId) {
      await within(() =>
        client.workflow.start(latePaymentWorkflow, latePaymentStartOptions(paymentId)),
      );
    },
  };
};
