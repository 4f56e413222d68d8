import type { Client } from '@temporalio/client';
import {
  NamespaceNotFoundError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { PaymentError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import type { WorkflowStart } from '../../contract/payment.ts';
import type { VerificationResult } from '../../contract/status.ts';
import type { VerifyRequest } from '../../temporal/messages.ts';
import {
  covers,
  paymentWorkflow,
  verifyUpdate,
  paymentStartOptions,
} from '../../temporal/messages.ts';
import { setRecent } from '../http/lru.ts';

const deadlineMs = 10_000;
const quietMs = limits.verifyReuseSeconds * 1000;

/**
 * Asks a payment's workflow to settle: one update a payment at a time in this process, so that one
 * impatient client cannot use up what the engine allows a workflow.
 */
export const createVerifier = ({ client }: { client: Client }) => {
  const running = new Map<string, { answer: Promise<VerificationResult>; told: VerifyRequest }>();
  const answered = new Map<
    string,
    { standing: VerificationResult; told: VerifyRequest; at: number }
  >();

  const executeUpdate = (id: string, request: VerifyRequest): Promise<VerificationResult> =>
    client.workflow
      .getHandle(id)
      .executeUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate, { args: [request] });

  /** Where its workflow is lost it is started again. */
  const startAgain = async (
    facts: WorkflowStart,
    request: VerifyRequest,
  ): Promise<VerificationResult> => {
    await client.workflow.start(paymentWorkflow, paymentStartOptions(facts, { again: true }));
    try {
      return await executeUpdate(facts.id, request);
    } catch (error) {
      // It had ended, so the new run did at once, perhaps in the middle of this: the record says how.
      const hasEnded =
        error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError;
      if (hasEnded) return { kind: 'waiting' };
      throw error;
    }
  };

  const update = async (
    facts: WorkflowStart,
    request: VerifyRequest,
  ): Promise<VerificationResult> => {
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

  const begin = (facts: WorkflowStart, request: VerifyRequest): Promise<VerificationResult> => {
    const answer = update(facts, request)
      .then((standing) => {
        setRecent(answered, facts.id, { standing, told: request, at: Date.now() });
        return standing;
      })
      .finally(() => running.delete(facts.id));
    running.set(facts.id, { answer, told: request });
    return answer;
  };

  return {
    /** The last answer to one who told as much, while it is so fresh that asking again would say the same. */
    lastAnswer(id: string, request: VerifyRequest): VerificationResult | undefined {
      const last = answered.get(id);
      if (!last || Date.now() - last.at >= quietMs) return undefined;
      return suffices(last, request) ? last.standing : undefined;
    },

    /**
     * @param gone aborts when nobody waits for the answer any more
     * @throws PaymentError SERVICE_UNAVAILABLE when no worker answers within 10 s
     */
    async settle(
      facts: WorkflowStart,
      request: VerifyRequest,
      gone?: AbortSignal,
    ): Promise<VerificationResult> {
      const limit = { until: Date.now() + deadlineMs, gone };
      for (let shared; (shared = running.get(facts.id));) {
        const standing = await within(limit, shared.answer);
        if (suffices({ standing, told: shared.told }, request)) return standing;
      }
      return within(limit, begin(facts, request));
    },
  };
};
export type Verifier = ReturnType<typeof createVerifier>;

/** Whether what another was answered is the answer to this one as well. */
const suffices = (
  { standing, told }: { standing: VerificationResult; told: VerifyRequest },
  request: VerifyRequest,
): boolean => standing.kind === 'ended' || covers(told, request);

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
