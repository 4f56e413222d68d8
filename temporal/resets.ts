import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { isGrpcDeadlineError, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import proto from '@temporalio/proto';

const deadlineMs = 5_000;
/** Never rename the activity: histories of open workflows hold its name. */
const deliverActivity = 'deliverWebhook';

const { ResetReapplyExcludeType } = proto.temporal.api.enums.v1;

/** `reset`: a new run begins at the delivery. `no_history`: Temporal has no history to reset. */
export type ResetResult = 'reset' | 'no_history';

/** Temporal did not reset the workflow. The next reset may fail too. */
export class ResetFailure extends Error {}

/** Resets a payment's workflow to the task that scheduled its delivery. */
export interface Resets {
  /** @throws ResetFailure, also if Temporal does not respond within 5 s */
  toDelivery(paymentId: string, reason: string): Promise<ResetResult>;
}

export const createResets = (client: Client): Resets => ({
  async toDelivery(paymentId, reason) {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        reset(client, paymentId, reason),
      );
    } catch (error) {
      if (isNotFound(error)) return 'no_history';
      throw new ResetFailure(
        `Temporal could not reset the workflow, and nothing was changed: ${describeError(error)}`,
        { cause: error },
      );
    }
  },
});

const isNotFound = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError ||
  (isGrpcServiceError(error) && error.code === status.NOT_FOUND);

const describeError = (error: unknown): string => {
  if (isGrpcDeadlineError(error))
    return `it did not respond within ${deadlineMs / 1000} seconds; try again later`;
  // The client wraps the errors of some calls in its own, which say less.
  const inner = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return inner instanceof Error ? (inner.message.split('\n', 1)[0] ?? '') : String(inner);
};

const reset = async (client: Client, workflowId: string, reason: string): Promise<ResetResult> => {
  const { namespace } = client.options;
  // The newest run: a reset of an older one would end it.
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const taskId = await findDeliveryTask(client.workflow.getHandle(workflowId, runId));
  if (!taskId) return 'no_history';
  await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    requestId: randomUUID(),
    reason,
    workflowTaskFinishEventId: taskId,
    // The payment has ended: signals and updates from after that need no second handling.
    resetReapplyExcludeTypes: [
      ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
      ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
    ],
  });
  return 'reset';
};

/** The task that scheduled the delivery. Later tasks only react to its end. */
const findDeliveryTask = async (handle: WorkflowHandle) => {
  const { events } = await handle.fetchHistory();
  return events?.findLast(
    ({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === deliverActivity,
  )?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId;
};
