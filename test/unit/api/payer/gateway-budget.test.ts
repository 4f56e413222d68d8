import { expect, it } from 'vitest';
import { createGatewayBudget, type PayerWork } from '../../../../api/payer/gateway-budget.ts';

const aBudget = () => {
  let nowMs = 1_000_000;
  const lines: unknown[] = [];
  const { take } = createGatewayBudget({
    now: () => nowMs,
    logger: { warn: (...line: unknown[]) => void lines.push(line) },
  });
  /** How often the work may begin in so many seconds, if it is asked for 1,000 times a second. */
  const countTaken = (work: PayerWork, seconds: number, gateway = 'a') => {
    let taken = 0;
    for (let count = 0; count < seconds * 1000; count += 1) {
      nowMs += 1;
      if (take(gateway, work) !== undefined) taken += 1;
    }
    return taken;
  };
  return { take, countTaken, lines, pass: (ms: number) => (nowMs += ms) };
};

it('bounds returns and late searches of a gateway together, below what the sweeper may ask', () => {
  const { countTaken } = aBudget();
  countTaken('return', 10);
  expect(countTaken('return', 10)).toBeLessThanOrEqual(801);
  countTaken('late', 10);
  const both = countTaken('late', 5) + countTaken('return', 5);
  expect(both).toBeLessThanOrEqual(801);
});

it('lets five late searches a second begin, which leave half of the burst to returns', () => {
  const { take, countTaken } = aBudget();
  const taken = countTaken('late', 10);
  expect(taken).toBeGreaterThan(50);
  expect(taken).toBeLessThanOrEqual(5 + 50);
  const returns = Array.from({ length: 50 }, () => take('a', 'return'));
  expect(new Set(returns)).toEqual(new Set([0]));
  expect(take('a', 'late')).toBeUndefined();
});

it('lets a crowd of returns wait for 3 seconds at most, at the same pace', () => {
  const { take, pass } = aBudget();
  const waits = Array.from({ length: 400 }, () => take('a', 'return'));
  expect(waits.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 0));
  expect([waits[100], waits[150], waits[249]]).toEqual([13, 638, 1_875]);
  expect(waits.slice(340)).toEqual(Array.from({ length: 60 }, () => undefined));
  expect(take('a', 'late')).toBeUndefined();
  pass(1_000);
  expect(take('a', 'return')).toBe(2_013);
});

it('has a budget of its own for each gateway', () => {
  const { take, countTaken } = aBudget();
  countTaken('return', 10);
  expect(take('b', 'return')).toBe(0);
});

it('fills nothing when the clock is set back', () => {
  const { take, countTaken, pass } = aBudget();
  countTaken('return', 10);
  pass(-3_600_000);
  countTaken('return', 1);
  expect(take('a', 'return')).toBeUndefined();
});

it('logs once a minute that it is used up', () => {
  const { countTaken, lines } = aBudget();
  countTaken('return', 50);
  expect(lines).toEqual([[{ gateway: 'a', work: 'return' }, expect.any(String)]]);
  countTaken('return', 20);
  expect(lines).toHaveLength(2);
});
