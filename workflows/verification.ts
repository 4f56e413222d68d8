import { CancellationScope, defineUpdate, setHandler } from '@temporalio/workflow';
import type { Status, VerificationResult } from '../contract/status.ts';
import {
  type CancelRequest,
  cancelUpdate,
  type SharedResult,
  type VerifyRequest,
  verifyUpdate,
} from '../temporal/messages.ts';
import { cancelPayment, expirePayment, verifyPayment } from './activities.ts';
import { createSignals } from './signals.ts';

/**
 * The verifications of one payment, single-flight: one runs at a time, and callers that arrive while it
 * runs share its result. Also handles the workflow's updates and signals, so create it first.
 * @param onAnswer gets each result
 */
export const createVerification = (id: string, onAnswer: (answer: VerificationResult) => void) => {
  // The workflow's scope: a verification outlives the update that started it.
  const scope = CancellationScope.current();
  let endStatus: Status | undefined;
  let isUnpaid = false;
  const { pending, subscribe } = createSignals();
  // Kept for later verifications: if the answer to closing the payment is lost, the gateway reports
  // `expired` afterwards, and the payer's cancel is the reason.
  let isCancelled = false;
  let inFlight: { request: VerifyRequest; result: Promise<SharedResult> } | undefined;

  const runSingle = (
    request: VerifyRequest,
    askGateway: () => Promise<VerificationResult>,
  ): Promise<SharedResult> => {
    const result = scope.run(async () => {
      try {
        const answer = await askGateway();
        onAnswer(answer);
        if (answer.kind === 'ended') endStatus = answer.status;
        isUnpaid = answer.kind === 'waiting';
        const { asker } = request;
        return asker === undefined ? answer : { ...answer, asker };
      } finally {
        inFlight = undefined;
      }
    });
    inFlight = { request, result };
    return result;
  };

  /** An inquiry serves every recheck before it. One that comes while it runs may tell of a change after it. */
  const takeRechecks = (): Pick<VerifyRequest, 'reported'> => {
    const { reported } = pending;
    Object.assign(pending, { recheck: false, reported: false });
    return reported ? { reported } : {};
  };

  const verify = async (request: VerifyRequest): Promise<SharedResult> => {
    isCancelled ||= request.cancelled === true;
    while (inFlight) {
      const running = inFlight;
      const result = await running.result;
      // A payer who came back meanwhile may have paid after the inquiry.
      if (result.kind === 'ended') pending.reported ||= request.returned;
      if (result.kind === 'ended' || covers(running.request, request)) return result;
    }
    if (endStatus) return { kind: 'ended', status: endStatus };
    const { asker, ...asked } = { ...request, cancelled: isCancelled };
    return runSingle({ ...asked, ...(asker !== undefined && { asker }) }, () =>
      verifyPayment({ id, ...asked, ...takeRechecks() }),
    );
  };

  /** Calls the payment off, after any verification in flight. It may end the payment without an inquiry. */
  const cancel = async (request: CancelRequest): Promise<VerificationResult> => {
    while (inFlight) await inFlight.result;
    if (endStatus) return { kind: 'ended', status: endStatus };
    return runSingle({ returned: false }, () => cancelPayment({ id, ...request }));
  };

  setHandler(defineUpdate<SharedResult, [VerifyRequest]>(verifyUpdate), verify);
  setHandler(defineUpdate<VerificationResult, [CancelRequest]>(cancelUpdate), cancel);

  return {
    verify,

    hasEnded: (): boolean => endStatus !== undefined,

    /** Whether the gateway's last answer was that nobody has paid yet. */
    isUnpaid: (): boolean => isUnpaid,

    /** The signals that came. Their handler forgets them. */
    pending,
    subscribe,

    /** Records that the payment had ended before this run started. */
    recordEnd(status: Status): void {
      endStatus = status;
      onAnswer({ kind: 'ended', status });
    },

    /** Another payment has paid the order. The inquiry is one of its own: what runs may have begun before that. */
    async callOff(): Promise<void> {
      pending.callOff = false;
      await cancel({ by: 'order' });
    },

    async recheck(): Promise<void> {
      // It does not share the result of an inquiry that began before it.
      while (inFlight) await inFlight.result;
      if (pending.recheck) await verify({ returned: false });
    },

    /** Looks for late money: no inquiry before the end has served the pending rechecks. */
    async searchLate(): Promise<void> {
      const { reported } = takeRechecks();
      if (reported && endStatus !== 'paid') await verifyPayment({ id, returned: false, reported });
    },

    /** Verifies a last time at the deadline, after any verification in flight. */
    async expire(options: { grace: boolean; unreachable: boolean }): Promise<VerificationResult> {
      while (inFlight) await inFlight.result;
      if (endStatus) return { kind: 'ended', status: endStatus };
      return runSingle({ returned: true, cancelled: true }, () =>
        expirePayment({ id, ...options, ...takeRechecks() }),
      );
    },
  };
};
export type Verification = ReturnType<typeof createVerification>;

/** Whether a verification that runs also does what `request` asks for. */
const covers = (running: VerifyRequest, request: VerifyRequest): boolean =>
  (running.returned || !request.returned) &&
  (running.cancelled === true || request.cancelled !== true);
