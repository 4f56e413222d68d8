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
  const returns = countTaken('return', 10);
  countTaken('late', 10);
  const late = countTaken('late', 10);
  expect(returns).toBeGreaterThan(700);
  expect(late).toBeGreaterThan(45);
  expect(returns + late).toBeLessThanOrEqual(802);
});

it('lets a crowd of returns wait for 3 seconds at most, at the same pace', () => {
  const { take, pass } = aBudget();
  const waits = Array.from({ length: 400 }, () => take('a', 'return'));
  expect(waits.slice(0, 95)).toEqual(Array.from({ length: 95 }, () => 0));
  expect([waits[95], waits[169], waits[319]]).toEqual([14, 1_000, 3_000]);
  expect(waits.slice(320)).toEqual(Array.from({ length: 80 }, () => undefined));
  pass(1_000);
  expect(take('a', 'return')).toBe(2_014);
});

it('lets late searches wait for 5 seconds at most, beside the returns', () => {
  const { take } = aBudget();
  const waits = Array.from({ length: 40 }, () => take('a', 'late'));
  expect(waits.slice(0, 7)).toEqual([0, 0, 0, 0, 0, 200, 400]);
  expect([waits[29], waits[30]]).toEqual([5_000, undefined]);
  expect(take('a', 'return')).toBe(0);
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

it('takes once for work that many pages share, and lets them wait for its start', () => {
  const { take, pass } = aBudget();
  for (let count = 0; count < 1_000; count += 1) expect(take('a', 'return', 'one update')).toBe(0);
  const waits = Array.from({ length: 95 }, () => take('a', 'return'));
  expect(waits.slice(-2)).toEqual([0, 14]);
  expect(take('a', 'return', 'another update')).toBe(27);
  pass(20);
  expect(take('a', 'return', 'another update')).toBe(7);
  pass(20);
  expect(take('a', 'return', 'another update')).toBe(0);
});

it('logs once a minute that it is used up', () => {
  const { countTaken, lines } = aBudget();
  countTaken('return', 50);
  expect(lines).toEqual([[{ gateway: 'a', work: 'return' }, expect.any(String)]]);
  countTaken('return', 20);
  expect(lines).toHaveLength(2);
});
