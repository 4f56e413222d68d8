import { expect, it, onTestFinished, vi } from 'vitest';
import { createCheckouts } from '../../../../api/payer/shared-checkouts.ts';
import { aPayerPayment } from '../../../support/data/payer-requests.ts';

const aCheckoutPayment = (id: string, isOpened: boolean) => ({
  ...aPayerPayment({ id }),
  redirect: isOpened ? { method: 'GET' as const, url: `https://gateway.example/${id}` } : null,
});

/** Checkouts whose statements take as long as the test wants, each with the ids that it asked for. */
const recorded = () => {
  const asked: string[][] = [];
  const opened = new Set<string>();
  let gate: Promise<void> | undefined;
  const checkouts = createCheckouts(async (ids) => {
    asked.push(ids);
    await gate;
    return ids.map((id) => aCheckoutPayment(id, opened.has(id)));
  });
  return { asked, opened, checkouts, hold: (until: Promise<void>) => void (gate = until) };
};

it('payers who come while a statement runs share the next one', async () => {
  const { asked, checkouts, hold } = recorded();
  const { promise, resolve } = Promise.withResolvers<void>();
  hold(promise);
  const first = checkouts.first('a');
  await expect.poll(() => asked).toEqual([['a']]);
  const others = ['b', 'c', 'b'].map((id) => checkouts.first(id));
  resolve();
  expect((await first)?.id).toBe('a');
  expect((await Promise.all(others)).map((payment) => payment?.id)).toEqual(['b', 'c', 'b']);
  expect(asked).toEqual([['a'], ['b', 'c']]);
});

it('payers who wait for an opening are asked for together, and no sooner than after 40 ms', async () => {
  // A busy machine spreads their arrivals over more than one pause.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { asked, opened, checkouts } = recorded();
  const cameAt = performance.now();
  const waiting = Array.from({ length: 20 }, (_, nth) => checkouts.again(`p${nth}`, cameAt));
  await vi.advanceTimersByTimeAsync(39);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(waiting);
  expect(asked.map(({ length }) => length)).toEqual([20]);
  opened.add('p1');
  const again = checkouts.again('p1', cameAt);
  await vi.advanceTimersByTimeAsync(40);
  expect((await again)?.redirect).not.toBeNull();
});

it('a statement that fails fails for its payers alone', async () => {
  let isDown = true;
  const checkouts = createCheckouts(async (ids) => {
    if (isDown) throw new Error('Postgres is away');
    return ids.map((id) => aCheckoutPayment(id, true));
  });
  await expect(checkouts.first('a')).rejects.toThrow('Postgres is away');
  isDown = false;
  expect(await checkouts.first('a')).toMatchObject({ id: 'a' });
});

it('one statement asks for at most 200 payments, and the others follow', async () => {
  const { asked, checkouts } = recorded();
  const all = Array.from({ length: 450 }, (_, nth) => checkouts.first(`p${nth}`));
  expect((await Promise.all(all)).map((payment) => payment?.id)).toEqual(
    Array.from({ length: 450 }, (_, nth) => `p${nth}`),
  );
  expect(asked.map(({ length }) => length)).toEqual([200, 200, 50]);
});

it('a payment that does not exist has no answer', async () => {
  const checkouts = createCheckouts(async () => []);
  expect(await checkouts.first('nobody')).toBeUndefined();
});
