import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { isGrpcDeadlineError, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import proto from '@temporalio/proto';
import { Refusal } from './change.ts';

const deadlineMs = 5_000;
/** The activity's name is for ever: open histories hold it. */
const deliverActivity = 'deliverWebhook';

const { ResetReapplyExcludeType } = proto.temporal.api.enums.v1;

/**
 * `reset`: a new run begins at the delivery. `left`: there is no history to begin from, so the sweep
 * starts a run that goes straight to the delivery.
 */
export type Reset = 'reset' | 'left';

/** Temporal, and not the payment, is why: the next one may well meet the same. */
export class ResetFailed extends Refusal {}

/** Resets payments' workflows to the task that scheduled their delivery. */
export interface Resets {
  /** @throws ResetFailed also when Temporal does not answer within 5 s */
  toDelivery(paymentId: string, reason: string): Promise<Reset>;
}

export const createResets = (client: Client): Resets => ({
  async toDelivery(paymentId, reason) {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        reset(client, paymentId, reason),
      );
    } catch (error) {
      if (isGone(error)) return 'left';
      throw new ResetFailed(
        `Temporal did not reset the workflow, so nothing was changed: ${whyOf(error)}`,
        { cause: error },
      );
    }
  },
});

const isGone = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError ||
  (isGrpcServiceError(error) && error.code === status.NOT_FOUND);

const whyOf = (error: unknown): string => {
  if (isGrpcDeadlineError(error))
    return `it did not answer within ${deadlineMs / 1000} seconds; try again when it does`;
  // The client wraps some calls' errors in one of its own, which says less.
  const inner = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return inner instanceof Error ? (inner.message.split('\n', 1)[0] ?? '') : String(inner);
};

const reset = async (client: Client, workflowId: string, reason: string): Promise<Reset> => {
  const { namespace } = client.options;
  // The newest run: a reset of an older one would end it.
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const taskId = await deliveryTask(client.workflow.getHandle(workflowId, runId));
  if (!taskId) return 'left';
  await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    requestId: randomUUID(),
    reason,
    workflowTaskFinishEventId: taskId,
    // The payment has ended: what came after changes nothing, and need not be told again.
    resetReapplyExcludeTypes: [
      ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
      ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
    ],
  });
  return 'reset';
};

/** The task that scheduled the delivery; the last completed one only reacted to its end. */
const deliveryTask = async (handle: WorkflowHandle) => {
  const { events } = await handle.fetchHistory();
  return events?.findLast(
    ({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === deliverActivity,
  )?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId;
};
