import { expect, it } from 'vitest';
import { throttleStarts } from '../../../../api/payer/late-payments.ts';

/** What is started, when, and how long it may take. */
const aStarter = () => {
  const starts: { id: string; at: number; withinMs: number | undefined }[] = [];
  const start = throttleStarts(async (id, withinMs) => {
    starts.push({ id, at: performance.now(), withinMs });
  });
  return { starts, start };
};

it('starts one search in 3 seconds, after all who came meanwhile and before any is answered', async () => {
  const { starts, start } = aStarter();
  await start('PAY_1', 10_000);
  const sooner = Array.from({ length: 20 }, () => start('PAY_1', 10_000));
  await start('PAY_2', 10_000);
  expect(starts.map(({ id }) => id)).toEqual(['PAY_1', 'PAY_2']);
  const answered = await Promise.race(sooner).then(() => starts.length);
  expect(answered).toBe(3);
  await Promise.all(sooner);
  expect(starts.map(({ id }) => id)).toEqual(['PAY_1', 'PAY_2', 'PAY_1']);
  const [first, , second] = starts;
  expect(second!.at - first!.at).toBeGreaterThan(2_900);
  expect(second!.withinMs).toBeLessThan(7_500);
  let isShared = false;
  void start('PAY_1', 10_000).then(() => (isShared = true));
  await new Promise(setImmediate);
  expect(isShared, 'with a start that is over').toBe(false);
});

it('does not share a start that has begun: it may be too early', async () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const start = throttleStarts(() => {
    begun.push(Promise.withResolvers<void>());
    return begun.at(-1)!.promise;
  });
  const first = start('PAY_1', 10_000);
  const second = start('PAY_1', 10_000);
  begun[0]!.resolve();
  await first;
  await expect.poll(() => begun.length, { timeout: 10_000 }).toBe(2);
  begun[1]!.reject(new Error('away'));
  await expect(second).rejects.toThrow('away');
});

it('does not wait where the time for the start itself would go, also where others wait', async () => {
  const { starts, start } = aStarter();
  await start('PAY_1', 1_000);
  await start('PAY_1', 1_000);
  expect(starts).toHaveLength(2);
  const others = [start('PAY_1', 10_000), start('PAY_1', 10_000)];
  await start('PAY_1', 1_000);
  expect(starts).toHaveLength(3);
  await Promise.all(others);
  expect(starts).toHaveLength(4);
});
