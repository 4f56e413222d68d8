import { expect, it } from 'vitest';
import { createPace } from '../../../activities/pace.ts';

it('lets callers go on one after the other, at most so many a second', () => {
  const pace = createPace({ perSecond: 20, longestWaitMs: 2_000 });
  expect([1, 2, 3].map(() => pace.takeTurn(1_000))).toEqual([0, 50, 100]);
  expect(pace.takeTurn(1_120)).toBe(30);
  // Time that nobody used is not saved up.
  expect([1, 2].map(() => pace.takeTurn(9_000))).toEqual([0, 50]);
});

it('sends callers away whose turn would come too late', () => {
  const pace = createPace({ perSecond: 10, longestWaitMs: 200 });
  const waits = [1, 2, 3, 4, 5].map(() => pace.takeTurn(0));
  expect(waits).toEqual([0, 100, 200, undefined, undefined]);
  expect(pace.takeTurn(150)).toBe(150);
});
