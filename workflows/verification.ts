import { CancellationScope, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import type { Status, VerificationResult } from '../contract/status.ts';
import {
  deliverSignal,
  recheckSignal,
  type VerifyRequest,
  verifyUpdate,
} from '../temporal/messages.ts';
import { expirePayment, verifyPayment } from './activities.ts';

/**
 * The verifications of one payment, single-flight: one runs at a time, and callers that arrive while it
 * runs share its result. Also handles the workflow's update and signals, so create it first.
 */
export const createVerification = (id: string) => {
  // The workflow's scope: a verification outlives the update that started it.
  const scope = CancellationScope.current();
  let endStatus: Status | undefined;
  let isUnpaid = false;
  let isRecheckRequested = false;
  let isDeliveryRequested = false;
  // Kept for later verifications: if the answer to closing the payment is lost, the gateway reports
  // `expired` afterwards, and the payer's cancel is the reason.
  let isCancelled = false;
  let inFlight: { request: VerifyRequest; result: Promise<VerificationResult> } | undefined;

  const runSingle = (
    request: VerifyRequest,
    askGateway: () => Promise<VerificationResult>,
  ): Promise<VerificationResult> => {
    const result = scope.run(async () => {
      try {
        const answer = await askGateway();
        if (answer.kind === 'ended') endStatus = answer.status;
        isUnpaid = answer.kind === 'waiting';
        return answer;
      } finally {
        inFlight = undefined;
      }
    });
    inFlight = { request, result };
    return result;
  };

  const verify = async (request: VerifyRequest): Promise<VerificationResult> => {
    isCancelled ||= request.cancelled === true;
    while (inFlight) {
      const running = inFlight;
      const result = await running.result;
      if (result.kind === 'ended' || covers(running.request, request)) return result;
    }
    if (endStatus) return { kind: 'ended', status: endStatus };
    const sent = { ...request, cancelled: isCancelled };
    return runSingle(sent, () => verifyPayment({ id, ...sent }));
  };

  setHandler(defineUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate), verify);
  setHandler(defineSignal(recheckSignal), () => {
    isRecheckRequested = true;
  });
  setHandler(defineSignal(deliverSignal), () => {
    // A workflow that Temporal has restored from a backup may not know that the payment has ended.
    isRecheckRequested = true;
    isDeliveryRequested = true;
  });

  return {
    verify,

    hasEnded: (): boolean => endStatus !== undefined,

    /** Whether the gateway's last answer was that nobody has paid yet. */
    isUnpaid: (): boolean => isUnpaid,

    isRecheckRequested: (): boolean => isRecheckRequested,

    isDeliveryRequested: (): boolean => isDeliveryRequested,

    /** Records that the payment had ended before this run started. */
    recordEnd(status: Status): void {
      endStatus = status;
    },

    /** For signals that what follows makes superfluous. */
    forgetSignals(): void {
      isRecheckRequested = false;
      isDeliveryRequested = false;
    },

    async recheck(): Promise<void> {
      isRecheckRequested = false;
      await verify({ returned: false });
    },

    /** Verifies a last time at the deadline, after any verification in flight. */
    async expire(options: { grace: boolean; unreachable: boolean }): Promise<VerificationResult> {
      isRecheckRequested = false;
      while (inFlight) await inFlight.result;
      if (endStatus) return { kind: 'ended', status: endStatus };
      return runSingle({ returned: true, cancelled: true }, () =>
        expirePayment({ id, ...options }),
      );
    },
  };
};
export type Verification = ReturnType<typeof createVerification>;

/** Whether a verification for `sent` also does what `request` asks for. */
const covers = (sent: VerifyRequest, request: VerifyRequest): boolean =>
  (sent.returned || !request.returned) && (sent.cancelled === true || request.cancelled !== true);
