import type { Client } from '@temporalio/client';
import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { PaymentError } from '../contract/errors.ts';
import type { SettleRequest, Standing } from '../workflows/messages.ts';
import { settleUpdate } from '../workflows/messages.ts';

const deadlineMs = 10_000;
const quietMs = 3_000;
const rememberedMax = 10_000;

/**
 * Asks a payment's workflow to settle: one update a payment at a time in this process, so that one
 * impatient client cannot use up what the engine allows a workflow.
 */
export const createSettler = ({ client }: { client: Client }) => {
  const running = new Map<string, Promise<Standing>>();
  const answeredAt = new Map<string, number>();

  const update = async (paymentId: string, request: SettleRequest): Promise<Standing> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow
          .getHandle(paymentId)
          .executeUpdate<Standing, [SettleRequest]>(settleUpdate, { args: [request] }),
      );
    } catch (error) {
      // Closed: the record says how it ended. Lost: the sweep starts it again.
      if (error instanceof WorkflowNotFoundError) return { known: 'waiting' };
      if (isExpected(error))
        throw new PaymentError('SERVICE_UNAVAILABLE', 'The payment cannot be verified now.', {
          cause: error,
        });
      throw error;
    }
  };

  const remember = (paymentId: string) => {
    answeredAt.delete(paymentId);
    answeredAt.set(paymentId, Date.now());
    const [oldest] = answeredAt.keys();
    if (answeredAt.size > rememberedMax && oldest !== undefined) answeredAt.delete(oldest);
  };

  return {
    /** Whether the last answer is so fresh that the record says the same. */
    isFresh: (paymentId: string): boolean =>
      Date.now() - (answeredAt.get(paymentId) ?? -Infinity) < quietMs,

    /** @throws PaymentError SERVICE_UNAVAILABLE when no worker answers within 10 s */
    async settle(paymentId: string, request: SettleRequest): Promise<Standing> {
      for (let shared; (shared = running.get(paymentId));) {
        const standing = await shared;
        if (standing.known === 'ended' || !request.returned) return standing;
      }
      const answer = update(paymentId, request);
      running.set(paymentId, answer);
      try {
        const standing = await answer;
        remember(paymentId);
        return standing;
      } finally {
        running.delete(paymentId);
      }
    },
  };
};
export type Settler = ReturnType<typeof createSettler>;

const isExpected = (error: unknown): boolean =>
  error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
  error instanceof WorkflowUpdateFailedError ||
  isGrpcServiceError(error);
