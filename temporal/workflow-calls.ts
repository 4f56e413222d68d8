import type { Client, WorkflowClient } from '@temporalio/client';
import {
  NamespaceNotFoundError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { limits } from '../contract/limits.ts';
import type { RefundStart, WorkflowStart } from '../contract/payment.ts';
import type { VerificationResult } from '../contract/status.ts';
import { withinTrace } from '../telemetry/log.ts';
import { type AnyStart, signalAny, startAny } from './any-start.ts';
import {
  type AccountDayInput,
  callOffSignal,
  type CancelRequest,
  cancelUpdate,
  compareAccountDayWorkflow,
  deliverSignal,
  latePaymentWorkflow,
  finishRefundUpdate,
  paymentWorkflow,
  type RecheckRequest,
  recheckSignal,
  replayManyWorkflow,
  type ReplayInput,
  type ReplayResult,
  replayWorkflow,
  type SharedResult,
  type VerifyRequest,
  verifyUpdate,
  webhookTestWorkflow,
  type Workflows,
} from './messages.ts';
import {
  accountDayStartOptions,
  latePaymentStartOptions,
  paymentStartOptions,
  replayManyStartOptions,
  replayStartOptions,
  webhookTestStartOptions,
} from './start-options.ts';

/** The longest time of a call to Temporal. A verification includes the calls to the gateway. */
const deadlinesMs = {
  start: 5_000,
  verify: 10_000,
  replay: 5_000,
  webhookTest: limits.attemptSeconds * 1000 + 4_000,
} as const;

/** A payment, and the 3 seconds of Postgres's clock in which the request for its verification came. */
export type VerifyStart = WorkflowStart & { verifyWindow: number };

/** Temporal did not answer within the deadline, or refused the call; the cause says why. */
export class TemporalUnavailable extends Error {}

/** Updates the workflow of a payment, and starts it again if it is lost. */
const updateOrRestart = async (
  workflow: WorkflowClient,
  start: WorkflowStart,
  { name, request, updateId }: { name: string; request: object; updateId: string },
): Promise<SharedResult> => {
  const execute = () =>
    workflow
      .getHandle(start.id)
      .executeUpdate<SharedResult, [object]>(name, { args: [request], updateId });
  try {
    return await execute();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  await startAny(workflow, start);
  try {
    return await execute();
  } catch (error) {
    // The payment had ended, so the new run has ended too. The record has the outcome.
    if (hasClosed(error)) return { kind: 'waiting' };
    throw error;
  }
};

/**
 * Starts, signals and updates workflows, for the API, the activities and admins.
 * Every function throws {@link TemporalUnavailable}.
 */
export const createWorkflowCalls = (client: Client) => {
  const { workflow } = client;

  const within = async <T>(deadlineMs: number, call: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, call);
    } catch (error) {
      throw isUnavailable(error) ? unavailable(error) : error;
    }
  };

  const signalOrStart = async (
    start: AnyStart,
    signal: string,
    args: [RecheckRequest?] = [],
  ): Promise<void> => {
    await within(deadlinesMs.start, () => signalAny(workflow, start, signal, args));
  };

  return {
    /**
     * Starts a new payment's workflow. Does nothing if it runs or has run.
     * @param start.traceId the trace of the create request; default: the current trace
     */
    async start(start: WorkflowStart & { traceId?: string | null }): Promise<void> {
      try {
        await withinTrace(start.traceId, () =>
          within(deadlinesMs.start, () =>
            workflow.start<Workflows['payment']>(paymentWorkflow, paymentStartOptions(start)),
          ),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },

    /** Starts the workflow of a payment, a refund or a dispute's event unless it runs. The new run continues where that is. */
    async restart(start: AnyStart): Promise<void> {
      await within(deadlinesMs.start, () => startAny(workflow, start));
    },

    /**
     * Has the workflow ask the gateway soon, or look for late money if the payment has ended. Starts the workflow if it
     * does not run.
     */
    recheck: (start: AnyStart, request?: RecheckRequest): Promise<void> =>
      signalOrStart(start, recheckSignal, request ? [request] : []),

    /** Tells the workflow that another payment has paid the order, and starts it if it does not run. */
    callOff: (start: WorkflowStart): Promise<void> => signalOrStart(start, callOffSignal),

    /** Has the workflow make the attempt that is due, and starts the workflow if it does not run. */
    deliver: (start: WorkflowStart): Promise<void> => signalOrStart(start, deliverSignal),

    /** Has the workflow of a refund that was called off or settled end it, and waits for that. */
    async finishRefund(start: RefundStart): Promise<void> {
      await within(deadlinesMs.verify, async () => {
        await startAny(workflow, start);
        const handle = workflow.getHandle(start.refundId);
        await handle.executeUpdate<void, []>(finishRefundUpdate).catch((error: unknown) => {
          // The run has ended, and with it the refund.
          if (!hasClosed(error)) throw error;
        });
      });
    },

    /**
     * Verifies a payment and returns the result. Equal requests of the same window share one update, whichever
     * process sends them; the signal ends the wait only.
     */
    async verify(
      start: VerifyStart,
      request: VerifyRequest,
      signal?: AbortSignal,
    ): Promise<SharedResult> {
      const updateId = verifyUpdateId(request, start.verifyWindow);
      const verify = () =>
        updateOrRestart(workflow, start, { name: verifyUpdate, request, updateId });
      return within(deadlinesMs.verify, () =>
        signal ? client.withAbortSignal(signal, verify) : verify(),
      );
    },

    /** Calls a payment off and returns the result. Equal requests of the same window share one update. */
    async cancel(start: VerifyStart, request: CancelRequest): Promise<VerificationResult> {
      const updateId = `cancel-${request.by}-${start.verifyWindow}`;
      return within(deadlinesMs.verify, () =>
        updateOrRestart(workflow, start, { name: cancelUpdate, request, updateId }),
      );
    },

    /**
     * Starts a replay of one event, or joins the one that runs.
     * @returns undefined if no worker has answered within 5 s, and the replay goes on; or if it failed
     */
    async replay(input: ReplayInput, application: string): Promise<ReplayResult | undefined> {
      const handle = await within(deadlinesMs.start, () =>
        workflow.start<Workflows['replay']>(replayWorkflow, replayStartOptions(input, application)),
      );
      return within(deadlinesMs.replay, () => handle.result()).catch(undefinedIfUnavailable);
    },

    /** Starts a replay of many events unless it runs. An operator's has no application. */
    async startReplayMany(replayId: string, application: string | null): Promise<void> {
      const options = replayManyStartOptions(replayId, application);
      await within(deadlinesMs.start, () =>
        workflow.start<Workflows['replayMany']>(replayManyWorkflow, options),
      );
    },

    /** Has a worker send a sample, and waits until it has recorded the answer. */
    async testWebhook(testId: string, application: string): Promise<void> {
      const options = webhookTestStartOptions(testId, application);
      try {
        await within(deadlinesMs.webhookTest, () =>
          workflow.execute<Workflows['webhookTest']>(webhookTestWorkflow, options),
        );
      } catch (error) {
        // There is no record of an answer then.
        if (!(error instanceof WorkflowFailedError)) throw error;
      }
    },

    /** Starts the comparison of a gateway's day unless it runs. */
    async compareAccountDay(input: AccountDayInput): Promise<void> {
      await within(deadlinesMs.start, () =>
        workflow.start<Workflows['compareAccountDay']>(
          compareAccountDayWorkflow,
          accountDayStartOptions(input),
        ),
      );
    },

    /** Starts the late-payment workflow unless it runs. */
    async startLatePayment(paymentId: string): Promise<void> {
      await within(deadlinesMs.start, () =>
        workflow.start<Workflows['latePayment']>(
          latePaymentWorkflow,
          latePaymentStartOptions(paymentId),
        ),
      );
    },

    /**
     * Has the late-payment workflow ask the gateway once more from now on, and starts it if it does not
     * run: the payer may have paid after the last inquiry.
     * @param options.askAt ask at this time and not sooner, in ms since 1970
     */
    async recheckLatePayment(
      paymentId: string,
      { withinMs = deadlinesMs.start, askAt }: { withinMs?: number; askAt?: number } = {},
    ): Promise<void> {
      const options = latePaymentStartOptions(paymentId, askAt);
      await within(Math.min(withinMs, deadlinesMs.start), () =>
        workflow.signalWithStart<Workflows['latePayment'], [askAt?: number]>(latePaymentWorkflow, {
          ...options,
          signal: recheckSignal,
          signalArgs: askAt === undefined ? [] : [askAt],
        }),
      );
    },
  };
};
export type WorkflowCalls = ReturnType<typeof createWorkflowCalls>;

/**
 * Temporal runs an update id once and gives its result to everybody who sends it again. So a client that
 * asks again and again, through any API process, adds one update in 3 seconds for each kind of request.
 * Temporal allows 10 updates in flight per workflow, and 2,000 in a run. The clocks of API processes may
 * differ or be set back, and would then repeat ids and get old results.
 */
const verifyUpdateId = ({ returned, cancelled }: VerifyRequest, window: number): string => {
  const kind = cancelled ? 'cancelled' : returned ? 'returned' : 'verify';
  return `${kind}-${window}`;
};

/** The run ended before it answered an update. */
const hasClosed = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError;

const undefinedIfUnavailable = (error: unknown): undefined => {
  if (!(error instanceof TemporalUnavailable || error instanceof WorkflowFailedError)) throw error;
};

const isUnavailable = (error: unknown): error is Error =>
  error instanceof ServiceError ||
  error instanceof NamespaceNotFoundError ||
  error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
  error instanceof WorkflowUpdateFailedError;

const unavailable = (cause: Error) => {
  const reason = cause.cause instanceof Error ? cause.cause.message : cause.message;
  return new TemporalUnavailable(`Temporal is unavailable: ${reason}`, { cause });
};
