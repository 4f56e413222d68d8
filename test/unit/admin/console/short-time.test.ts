import { expect, it } from 'vitest';
import { formatShort } from '../../../../admin/console/zone.ts';

const now = new Date('2026-06-01T00:00:00Z');

it.each([
  ['UTC', '2026-11-27T05:36:17Z', '27 Nov, 05:36'],
  ['Asia/Tehran', '2026-11-27T22:36:17Z', '28 Nov, 02:06'],
  ['UTC', '2025-01-01T00:00:00Z', '1 Jan 2025, 00:00'],
  // Another year than here, and this one there.
  ['Asia/Tehran', '2025-12-31T23:00:00Z', '1 Jan, 02:30'],
])('in %s, %s is %s', (zone, at, short) => {
  expect(formatShort(zone, new Date(at), now)).toBe(short);
});
