import { CancellationScope } from '@temporalio/workflow';
import type { VerificationResult, Status } from '../contract/status.ts';
import { settling } from './activities.ts';
import { covers, type VerifyRequest } from '../temporal/messages.ts';

/**
 * Asking the gateway, one try at a time: who comes while a try runs gets its answer, so however
 * many ask, one verification runs and one transition happens.
 */
export const createVerification = (id: string) => {
  // The payment's own, so that a try is not cancelled with the update that began it.
  const scope = CancellationScope.current();
  let ended: Status | undefined;
  // Kept: where the answer to a cancel was lost, the gateway says `expired` later, and this is why.
  let cancelled = false;
  let waiting = false;
  let current: { answer: Promise<VerificationResult>; told: VerifyRequest } | undefined;

  const run = (
    tryOnce: () => Promise<VerificationResult>,
    told: VerifyRequest,
  ): Promise<VerificationResult> => {
    const answer = scope.run(async () => {
      try {
        const standing = await tryOnce();
        if (standing.kind === 'ended') ended = standing.status;
        waiting = standing.kind === 'waiting';
        return standing;
      } finally {
        current = undefined;
      }
    });
    current = { answer, told };
    return answer;
  };

  return {
    ended: (): Status | undefined => ended,

    /** Whether the gateway, when it was asked last, said that nobody has paid yet. */
    isWaiting: (): boolean => waiting,

    /** A run that begins late learns that the payment had ended. */
    begin(status: Status) {
      ended = status;
    },

    async ask(request: VerifyRequest): Promise<VerificationResult> {
      cancelled ||= request.cancelled === true;
      while (current) {
        const { answer, told } = current;
        const standing = await answer;
        if (standing.kind === 'ended' || covers(told, request)) return standing;
      }
      if (ended) return { kind: 'ended', status: ended };
      const told = { ...request, cancelled };
      return run(() => settling.verifyPayment({ id, ...told }), told);
    },

    /** The deadline's own try, after whatever is running. */
    async expire(how: { grace: boolean; unreachable: boolean }): Promise<VerificationResult> {
      while (current) await current.answer;
      if (ended) return { kind: 'ended', status: ended };
      return run(() => settling.expirePayment({ id, ...how }), { returned: true, cancelled: true });
    },
  };
};
