import { expect, it } from 'vitest';
import { throttleRechecks } from '../../../../api/payer/late-payments.ts';

/** A throttled recheck that records its calls. */
const aRecheck = () => {
  const calls: { id: string; at: number; withinMs: number | undefined }[] = [];
  const recheck = throttleRechecks(async (id, withinMs) => {
    calls.push({ id, at: performance.now(), withinMs });
  });
  return { calls, recheck };
};

it.concurrent(
  'rechecks a payment once in 3 seconds, and callers in between share the next recheck',
  async () => {
    const { calls, recheck } = aRecheck();
    await recheck('PAY_1', 10_000);
    const early = Array.from({ length: 20 }, () => recheck('PAY_1', 10_000));
    await recheck('PAY_2', 10_000);
    expect(calls.map(({ id }) => id)).toEqual(['PAY_1', 'PAY_2']);
    const callsAtFirstResult = await Promise.race(early).then(() => calls.length);
    expect(callsAtFirstResult).toBe(3);
    await Promise.all(early);
    expect(calls.map(({ id }) => id)).toEqual(['PAY_1', 'PAY_2', 'PAY_1']);
    const [first, , second] = calls;
    expect(second!.at - first!.at).toBeGreaterThan(2_900);
    expect(second!.withinMs).toBeLessThan(7_500);
    let isResolved = false;
    void recheck('PAY_1', 10_000).then(() => (isResolved = true));
    await new Promise(setImmediate);
    expect(isResolved, 'it does not share a recheck that is over').toBe(false);
  },
);

it.concurrent(
  'does not share a recheck that has begun, because the payer may have paid since',
  async () => {
    const begun: PromiseWithResolvers<void>[] = [];
    const recheck = throttleRechecks(() => {
      begun.push(Promise.withResolvers<void>());
      return begun.at(-1)!.promise;
    });
    const first = recheck('PAY_1', 10_000);
    const second = recheck('PAY_1', 10_000);
    begun[0]!.resolve();
    await first;
    await expect.poll(() => begun.length, { timeout: 10_000 }).toBe(2);
    begun[1]!.reject(new Error('away'));
    await expect(second).rejects.toThrow('away');
  },
);

it.concurrent('does not wait if too little time would be left for the recheck', async () => {
  const { calls, recheck } = aRecheck();
  await recheck('PAY_1', 1_000);
  await recheck('PAY_1', 1_000);
  expect(calls).toHaveLength(2);
  const others = [recheck('PAY_1', 10_000), recheck('PAY_1', 10_000)];
  await recheck('PAY_1', 1_000);
  expect(calls).toHaveLength(3);
  await Promise.all(others);
  expect(calls).toHaveLength(4);
});
