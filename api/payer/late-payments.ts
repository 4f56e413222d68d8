import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import type { PayerPayment } from '../../postgres/payments.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { PaymentWorkflows } from '../../temporal/payment-workflows.ts';
import { setRecent } from '../http/lru.ts';
import type { GatewayBudget } from './gateway-budget.ts';

export interface Deps {
  recheckLatePayment: PaymentWorkflows['recheckLatePayment'];
  budget: Pick<GatewayBudget, 'take'>;
  now: () => Date;
  logger: Pick<Logger, 'warn'>;
}

/** An ended payment, with the searches that have been made for its money. */
export type SearchedPayment = Pick<PayerPayment, 'id' | 'gateway' | 'status' | 'updatedAt'> &
  Partial<Pick<PayerPayment, 'lateSearches' | 'lateSearchedAt'>>;

const quietMs = limits.verifyReuseSeconds * 1000;
/** No gateway lets a payer pay this long after the end. */
const searchedForMs = 48 * 60 * 60_000;
const firstPauseMs = 60_000;
const longestPauseMs = 60 * 60_000;
const withinMaxMs = 10_000;
/** Left for the start of a search that had to wait. */
const withinMinMs = 1_000;

/** When the next search may ask the gateway, in ms since 1970: each one makes the pause longer. */
const nextSearchAt = ({ lateSearches = 0, lateSearchedAt = null }: SearchedPayment): number =>
  lateSearchedAt === null
    ? 0
    : lateSearchedAt.getTime() +
      Math.min(firstPauseMs * 2 ** Math.min(lateSearches - 1, 10), longestPauseMs);

/**
 * Searches for late money when a payer returns to a payment that has ended. Limits the searches: none 48
 * hours after the end, a growing pause for each payment, and a budget for each gateway.
 */
export const createSearchLate = ({ recheckLatePayment, budget, now, logger }: Deps) => {
  /** Until when a search that begins later covers the returns of a payment, in ms since 1970. */
  const coveredUntil = new Map<string, number>();

  const begin = async (payment: SearchedPayment, withinMs: number): Promise<void> => {
    const { id, gateway } = payment;
    const waitMs = budget.take(gateway, 'late');
    if (waitMs === undefined) return;
    if (waitMs > 0) await sleep(waitMs);
    const askAt = nextSearchAt(payment);
    const isLater = askAt > now().getTime();
    await recheckLatePayment(id, {
      withinMs: Math.max(withinMs - waitMs, withinMinMs),
      ...(isLater && { askAt }),
    });
    if (isLater) setRecent(coveredUntil, id, askAt);
  };
  const throttled = throttleRechecks(begin);

  /** Never throws: the payer continues. */
  return async (payment: SearchedPayment, withinMs: number = withinMaxMs): Promise<void> => {
    const { id, status, updatedAt } = payment;
    const nowMs = now().getTime();
    if (status === 'paid' || nowMs - updatedAt.getTime() > searchedForMs) return;
    if ((coveredUntil.get(id) ?? 0) > nowMs) return;
    try {
      await throttled(payment, withinMs);
    } catch (error) {
      logger.warn(
        { payment_id: id, err: error },
        'Could not start the late-payment search of a return; a notification or another return may',
      );
    }
  };
};
export type SearchLate = ReturnType<typeof createSearchLate>;

/**
 * Limits the rechecks of late payments to one in 3 seconds for each payment. Callers that come sooner
 * wait for the next recheck together. An earlier one does not help them: the gateway may have been asked
 * before the payer paid, and is not asked again once it has answered.
 */
export const throttleRechecks = <T extends { id: string }>(
  recheck: (payment: T, withinMs: number) => Promise<void>,
) => {
  const lastBegan = new Map<string, number>();
  const next = new Map<string, Promise<void>>();

  const begin = (payment: T, withinMs: number): Promise<void> => {
    setRecent(lastBegan, payment.id, Date.now());
    return recheck(payment, withinMs);
  };

  return (payment: T, withinMs: number): Promise<void> => {
    const pauseMs = (lastBegan.get(payment.id) ?? 0) + quietMs - Date.now();
    // Waiting must leave enough time for the recheck itself.
    if (pauseMs <= 0 || pauseMs > withinMs / 2) return begin(payment, withinMs);
    const shared = next.get(payment.id);
    if (shared) return shared;
    const later = sleep(pauseMs).then(() => {
      next.delete(payment.id);
      return begin(payment, withinMs - pauseMs);
    });
    next.set(payment.id, later);
    return later;
  };
};
