import type { Client } from '@temporalio/client';
import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { PaymentError } from '../contract/errors.ts';
import type { Standing } from '../contract/status.ts';
import type { SettleRequest } from '../workflows/messages.ts';
import { settleUpdate } from '../workflows/messages.ts';

const deadlineMs = 10_000;
const quietMs = 3_000;
const rememberedMax = 10_000;

/**
 * Asks a payment's workflow to settle: one update a payment at a time in this process, so that one
 * impatient client cannot use up what the engine allows a workflow.
 */
export const createSettler = ({ client }: { client: Client }) => {
  const running = new Map<string, { answer: Promise<Standing>; told: SettleRequest }>();
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
      if (isExpected(error)) throw notNow(error);
      throw error;
    }
  };

  const remember = (paymentId: string) => {
    answeredAt.delete(paymentId);
    answeredAt.set(paymentId, Date.now());
    const [oldest] = answeredAt.keys();
    if (answeredAt.size > rememberedMax && oldest !== undefined) answeredAt.delete(oldest);
  };

  const begin = (paymentId: string, request: SettleRequest): Promise<Standing> => {
    const answer = update(paymentId, request)
      .then((standing) => {
        remember(paymentId);
        return standing;
      })
      .finally(() => running.delete(paymentId));
    running.set(paymentId, { answer, told: request });
    return answer;
  };

  return {
    /** Whether the last answer is so fresh that the record says the same. */
    isFresh: (paymentId: string): boolean =>
      Date.now() - (answeredAt.get(paymentId) ?? -Infinity) < quietMs,

    /** @throws PaymentError SERVICE_UNAVAILABLE when no worker answers within 10 s */
    async settle(paymentId: string, request: SettleRequest): Promise<Standing> {
      const until = Date.now() + deadlineMs;
      for (let shared; (shared = running.get(paymentId));) {
        const standing = await before(until, shared.answer);
        if (standing.known === 'ended' || knowsAll(shared.told, request)) return standing;
      }
      return before(until, begin(paymentId, request));
    },
  };
};
export type Settler = ReturnType<typeof createSettler>;

/** One that knew less has done less: workflows/settling.ts goes by the same. */
const knowsAll = (told: SettleRequest, request: SettleRequest): boolean =>
  (told.returned || !request.returned) && (told.cancelled === true || !request.cancelled);

/** Who waited for another's answer first has only what is left of the time for its own. */
const before = async <T>(untilMs: number, answer: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(notNow()), untilMs - Date.now());
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

const notNow = (cause?: unknown) =>
  new PaymentError('SERVICE_UNAVAILABLE', 'The payment cannot be verified now.', { cause });

const isExpected = (error: unknown): boolean =>
  error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
  error instanceof WorkflowUpdateFailedError ||
  isGrpcServiceError(error);
