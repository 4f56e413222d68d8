import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedPayout } from '../contract/payout.ts';
import type { GatewayAdapter } from '../gateways/gateway.ts';
import { askingMs, pagePauseMs } from './account-balance.ts';

/** More than one a day in the time that is read. */
const mostPages = 100;

/**
 * Records the payouts since a time, page by page.
 * @param payouts needs an adapter of its own for each call, which has some seconds for all of its calls
 */
export const readPayouts = async (
  payouts: Required<GatewayAdapter>['payouts'],
  since: Date,
  record: (payouts: readonly ListedPayout[]) => Promise<void>,
): Promise<void> => {
  const until = performance.now() + askingMs;
  let after: string | null = null;
  for (let pages = 0; pages < mostPages && performance.now() < until; pages += 1) {
    const { payouts: listed, next } = await payouts(since, after);
    await record(listed);
    if (next === null) return;
    after = next;
    await sleep(pagePauseMs);
  }
};
