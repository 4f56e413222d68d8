import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { limits } from '../../contract/limits.ts';
import { latePaymentRecheckOptions, latePaymentWorkflow } from '../../temporal/messages.ts';
import type { latePayment } from '../../workflows/late-payment.ts';
import { setRecent } from '../http/lru.ts';

const longestMs = 5_000;

/**
 * Has somebody look for money that came after a payment's end without being paid, and give it back.
 * Resolves once a workflow has it. @throws ServiceError of the engine where it is away
 */
export const createLatePaymentStarter =
  ({ client }: { client: Client }) =>
  async (paymentId: string, withinMs = longestMs): Promise<void> => {
    await client.withDeadline(Date.now() + Math.min(withinMs, longestMs), () =>
      client.workflow.signalWithStart<typeof latePayment>(
        latePaymentWorkflow,
        latePaymentRecheckOptions(paymentId),
      ),
    );
  };
export type LatePaymentStarter = ReturnType<typeof createLatePaymentStarter>;

const quietMs = limits.verifyReuseSeconds * 1000;

/**
 * For payers who come back again and again: one start in 3 s for each payment. Who comes sooner waits,
 * with all others, for the next one. An earlier search cannot do for him: it may have asked the gateway
 * before he paid, and once it has found nothing nobody looks again.
 */
export const throttleStarts = (start: LatePaymentStarter) => {
  const begun = new Map<string, number>();
  const next = new Map<string, Promise<void>>();

  const begin = (paymentId: string, withinMs: number): Promise<void> => {
    setRecent(begun, paymentId, Date.now());
    return start(paymentId, withinMs);
  };

  return (paymentId: string, withinMs: number): Promise<void> => {
    const pauseMs = (begun.get(paymentId) ?? 0) + quietMs - Date.now();
    // A start that has too little time left for itself would be none.
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
export type ThrottledStarter = ReturnType<typeof throttleStarts>;
