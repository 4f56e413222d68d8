import { expect, it } from 'vitest';
import { isoTime } from '../../../contract/time.ts';

it('writes milliseconds and +00:00', () => {
  expect(isoTime(new Date('2026-03-01T00:00:00+03:30'))).toBe('2026-02-28T20:30:00.000+00:00');
});

it('throws for an invalid date', () => {
  expect(() => isoTime(new Date(NaN))).toThrow(RangeError);
});
