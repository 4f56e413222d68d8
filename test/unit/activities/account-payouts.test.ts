import { expect, it, onTestFinished, vi } from 'vitest';
import { readPayouts } from '../../../activities/account-payouts.ts';

it('readPayouts leaves the rest of a slow gateway to the next day', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let recorded = 0;
  const payouts = async () => {
    vi.advanceTimersByTime(40_000);
    return { payouts: [], next: 'more' };
  };
  await readPayouts(payouts, new Date(), async () => void (recorded += 1));
  expect(recorded).toBe(3);
});
