import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import type { PaymentWorkflows } from '../../temporal/payment-workflows.ts';
import { setRecent } from '../http/lru.ts';

const quietMs = limits.verifyReuseSeconds * 1000;

/**
 * Limits the rechecks of late payments to one in 3 seconds for each payment. Callers that come sooner
 * wait for the next recheck together. An earlier one does not help them: the gateway may have been asked
 * before the payer paid, and is not asked again once it has answered.
 */
export const throttleRechecks = (recheck: PaymentWorkflows['recheckLatePayment']) => {
  const lastBegan = new Map<string, number>();
  const next = new Map<string, Promise<void>>();

  const begin = (paymentId: string, withinMs: number): Promise<void> => {
    setRecent(lastBegan, paymentId, Date.now());
    return recheck(paymentId, withinMs);
  };

  return (paymentId: string, withinMs: number): Promise<void> => {
    const pauseMs = (lastBegan.get(paymentId) ?? 0) + quietMs - Date.now();
    // Waiting must leave enough time for the recheck itself.
    if (pauseMs <= 0 || pauseMs > withinMs / 2) return begin(paymentId, withinMs);
    const shared = next.get(paymentId);
    if (shared) return shared;
    const later = sleep(pauseMs).then(() => {
      next.delete(paymentId);
      return begin(paymentId, withinMs - pauseMs);
    });
    next.set(paymentId, later);
    return later;
  };
};
export type RecheckLatePayment = ReturnType<typeof throttleRechecks>;
