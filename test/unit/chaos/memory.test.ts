import { expect, it } from 'vitest';
import { addSums, sumLives, trendOf } from '../../../chaos/memory.ts';

/** A sample every 5 seconds. */
const life = (count: number, mbAt: (minutes: number, index: number) => number) =>
  Array.from({ length: count }, (_, index) => {
    const age = 2 + index / 12;
    return { age, mb: mbAt(age, index) };
  });
const wave = (index: number) => (index % 2 === 0 ? 3 : -3);

it('finds the growth of two lives that begin with different memory', () => {
  const lives = [life(60, (age) => 100 + age * 2), life(60, (age) => 300 + age * 2)];
  expect(trendOf(sumLives(lives))).toMatchObject({ lives: 2, samples: 120 });
  expect(trendOf(sumLives(lives))?.growth).toBeCloseTo(120, 6);
});

it('finds no growth in memory that goes up and down, within its error', () => {
  const trend = trendOf(sumLives([life(120, (_age, index) => 200 + wave(index))]));
  expect(Math.abs(trend?.growth ?? NaN)).toBeLessThan(2 * (trend?.error ?? 0));
});

it('finds the same in two runs that are added as in one', () => {
  const one = [life(60, (age, index) => 100 + age + wave(index))];
  const other = [life(80, (age, index) => 150 + age * 3 + wave(index))];
  const added = trendOf(addSums(sumLives(one), sumLives(other)));
  const together = trendOf(sumLives([...one, ...other]));
  expect(added?.growth).toBeCloseTo(together?.growth ?? NaN, 9);
  expect(added?.error).toBeCloseTo(together?.error ?? NaN, 9);
});

it('leaves out a life that was too short', () => {
  expect(trendOf(sumLives([life(5, () => 100)]))).toBeUndefined();
});
