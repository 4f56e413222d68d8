import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { latePaymentWorkflow, paymentWorkflow } from './messages.ts';
import { skipWorkflowTime } from './skip-time.ts';
import { paymentIdOf, searchAttributes } from './start-options.ts';
import { createWorkflowCalls, type WorkflowCalls } from './workflow-calls.ts';

export interface WorkflowSummary {
  paymentId: string;
  running: boolean;
  /** Null for a late-payment workflow, which has no search attributes. */
  application: string | null;
  orderId: string | null;
  startedAt: Date;
}

/** The calls of admins to Temporal. */
export interface TemporalAdmin extends Pick<
  WorkflowCalls,
  | 'cancel'
  | 'compareAccountDay'
  | 'deliver'
  | 'finishRefund'
  | 'recheck'
  | 'restart'
  | 'startLatePayment'
  | 'startReplayMany'
  | 'testWebhook'
  | 'verify'
> {
  /** Lists running workflows of payments, and closed ones that started since then. Newest first. */
  list(since: Date | null): AsyncIterable<WorkflowSummary>;
  /** Advances the clock of one workflow, where the server lets it. */
  skipTime(workflowId: string, ms: number): Promise<void>;
  /** Returns the running ones of the given workflows. */
  running(workflowIds: readonly string[]): Promise<Set<string>>;
}

const deadlineMs = 5_000;
const pageSize = 500;
const describesAtOnce = 10;

export const createTemporalAdmin = (client: Client): TemporalAdmin => {
  const isRunning = async (id: string): Promise<boolean> => {
    try {
      const { status } = await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.getHandle(id).describe(),
      );
      return status.name === 'RUNNING';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };

  return {
    ...createWorkflowCalls(client),

    skipTime: (workflowId, ms) =>
      client.withDeadline(Date.now() + deadlineMs, () => skipWorkflowTime(client, workflowId, ms)),

    async *list(since) {
      const types = `WorkflowType IN ('${paymentWorkflow}', '${latePaymentWorkflow}')`;
      const closed = since ? ` OR StartTime >= '${since.toISOString()}'` : '';
      const query = `${types} AND (ExecutionStatus = 'Running'${closed})`;
      for await (const found of client.workflow.list({ query, pageSize })) {
        const { workflowId, status, startTime, typedSearchAttributes: attributes } = found;
        yield {
          paymentId: paymentIdOf(workflowId),
          running: status.name === 'RUNNING',
          application: attributes.get(searchAttributes.application) ?? null,
          orderId: attributes.get(searchAttributes.orderId) ?? null,
          startedAt: startTime,
        };
      }
    },

    /** Temporal's list is cheap but lags behind: each workflow that it lacks is described. */
    async running(workflowIds) {
      const running = new Set<string>();
      if (workflowIds.length === 0) return running;
      const ids = workflowIds.map((id) => `'${id}'`).join(', ');
      const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${ids})`;
      for await (const { workflowId } of client.workflow.list({ query, pageSize }))
        running.add(workflowId);
      const unlisted = workflowIds.filter((id) => !running.has(id)).values();
      const describeEach = async () => {
        for (const id of unlisted) if (await isRunning(id)) running.add(id);
      };
      await Promise.all(Array.from({ length: describesAtOnce }, describeEach));
      return running;
    },
  };
};
