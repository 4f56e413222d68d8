import type { Client } from '@temporalio/client';
import {
  NamespaceNotFoundError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { PaymentError } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import type { StartFacts } from '../contract/payment.ts';
import type { Standing } from '../contract/status.ts';
import type { SettleRequest } from '../workflows/messages.ts';
import { knowsAll, paymentWorkflow, settleUpdate, startOf } from '../workflows/messages.ts';
import { setLatest } from './latest.ts';

const deadlineMs = 10_000;
const quietMs = limits.quietSeconds * 1000;

/**
 * Asks a payment's workflow to settle: one update a payment at a time in this process, so that one
 * impatient client cannot use up what the engine allows a workflow.
 */
export const createSettler = ({ client }: { client: Client }) => {
  const running = new Map<string, { answer: Promise<Standing>; told: SettleRequest }>();
  const answered = new Map<string, { standing: Standing; told: SettleRequest; at: number }>();

  const executeUpdate = (id: string, request: SettleRequest): Promise<Standing> =>
    client.workflow
      .getHandle(id)
      .executeUpdate<Standing, [SettleRequest]>(settleUpdate, { args: [request] });

  /** Where its workflow is lost it is started again. */
  const startAgain = async (facts: StartFacts, request: SettleRequest): Promise<Standing> => {
    await client.workflow.start(paymentWorkflow, startOf(facts, { again: true }));
    try {
      return await executeUpdate(facts.id, request);
    } catch (error) {
      // It had ended, so the new run did at once, perhaps in the middle of this: the record says how.
      const hasEnded =
        error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError;
      if (hasEnded) return { known: 'waiting' };
      throw error;
    }
  };

  const update = async (facts: StartFacts, request: SettleRequest): Promise<Standing> => {
    const ask = async () => {
      try {
        return await executeUpdate(facts.id, request);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        return startAgain(facts, request);
      }
    };
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw isExpected(error) ? notNow(error) : error;
    }
  };

  const begin = (facts: StartFacts, request: SettleRequest): Promise<Standing> => {
    const answer = update(facts, request)
      .then((standing) => {
        setLatest(answered, facts.id, { standing, told: request, at: Date.now() });
        return standing;
      })
      .finally(() => running.delete(facts.id));
    running.set(facts.id, { answer, told: request });
    return answer;
  };

  return {
    /** The last answer to one who told as much, while it is so fresh that asking again would say the same. */
    lastAnswer(id: string, request: SettleRequest): Standing | undefined {
      const last = answered.get(id);
      if (!last || Date.now() - last.at >= quietMs) return undefined;
      return suffices(last, request) ? last.standing : undefined;
    },

    /**
     * @param gone aborts when nobody waits for the answer any more
     * @throws PaymentError SERVICE_UNAVAILABLE when no worker answers within 10 s
     */
    async settle(facts: StartFacts, request: SettleRequest, gone?: AbortSignal): Promise<Standing> {
      const limit = { until: Date.now() + deadlineMs, gone };
      for (let shared; (shared = running.get(facts.id));) {
        const standing = await within(limit, shared.answer);
        if (suffices({ standing, told: shared.told }, request)) return standing;
      }
      return within(limit, begin(facts, request));
    },
  };
};
export type Settler = ReturnType<typeof createSettler>;

/** Whether what another was answered is the answer to this one as well. */
const suffices = (
  { standing, told }: { standing: Standing; told: SettleRequest },
  request: SettleRequest,
): boolean => standing.known === 'ended' || knowsAll(told, request);

/** Who waited for another's answer first has only what is left of the time for its own. */
const within = async <T>(
  { until, gone }: { until: number; gone: AbortSignal | undefined },
  answer: Promise<T>,
): Promise<T> => {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(notNow()), until - Date.now());
  const leave = () => over.reject(gone?.reason);
  if (gone?.aborted) leave();
  else gone?.addEventListener('abort', leave);
  try {
    return await Promise.race([answer, over.promise]);
  } finally {
    clearTimeout(timer);
    gone?.removeEventListener('abort', leave);
  }
};

const notNow = (cause?: unknown) =>
  new PaymentError('SERVICE_UNAVAILABLE', 'The payment cannot be verified now.', { cause });

const isExpected = (error: unknown): boolean =>
  error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
  error instanceof WorkflowUpdateFailedError ||
  error instanceof NamespaceNotFoundError ||
  error instanceof ServiceError;
