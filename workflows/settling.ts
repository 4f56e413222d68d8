import { CancellationScope } from '@temporalio/workflow';
import type { Standing, Status } from '../contract/status.ts';
import { settling } from './activities.ts';
import { knowsAll, type SettleRequest } from './messages.ts';

/**
 * Asking the gateway, one try at a time: who comes while a try runs gets its answer, so however
 * many ask, one verification runs and one transition happens.
 */
export const createSettling = (id: string) => {
  // The payment's own, so that a try is not cancelled with the update that began it.
  const scope = CancellationScope.current();
  let ended: Status | undefined;
  // Kept: where the answer to a cancel was lost, the gateway says `expired` later, and this is why.
  let cancelled = false;
  let waiting = false;
  let current: { answer: Promise<Standing>; told: SettleRequest } | undefined;

  const run = (tryOnce: () => Promise<Standing>, told: SettleRequest): Promise<Standing> => {
    const answer = scope.run(async () => {
      try {
        const standing = await tryOnce();
        if (standing.known === 'ended') ended = standing.status;
        waiting = standing.known === 'waiting';
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

    async ask(request: SettleRequest): Promise<Standing> {
      cancelled ||= request.cancelled === true;
      while (current) {
        const { answer, told } = current;
        const standing = await answer;
        if (standing.known === 'ended' || knowsAll(told, request)) return standing;
      }
      if (ended) return { known: 'ended', status: ended };
      const told = { ...request, cancelled };
      return run(() => settling.settlePayment({ id, ...told }), told);
    },

    /** The deadline's own try, after whatever is running. */
    async expire(how: { grace: boolean; unreachable: boolean }): Promise<Standing> {
      while (current) await current.answer;
      if (ended) return { known: 'ended', status: ended };
      return run(() => settling.expirePayment({ id, ...how }), { returned: true, cancelled: true });
    },
  };
};
