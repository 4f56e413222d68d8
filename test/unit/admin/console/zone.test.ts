import { describe, expect, it } from 'vitest';
import { formatShort, fromClockTime, toClockTime } from '../../../../admin/console/zone.ts';

describe('a time of a clock', () => {
  it.each([
    ['UTC', '2026-07-01T12:00', '2026-07-01T12:00:00.000Z'],
    ['Asia/Tehran', '2026-07-02T01:35:09', '2026-07-01T22:05:09.000Z'],
    ['America/New_York', '2026-07-01T18:05', '2026-07-01T22:05:00.000Z'],
    // The hours before and after the clocks go forward.
    ['Europe/Berlin', '2026-03-29T01:59:59', '2026-03-29T00:59:59.000Z'],
    ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
    // The hours before and after they go back.
    ['Europe/Berlin', '2026-10-25T01:59', '2026-10-24T23:59:00.000Z'],
    ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
  ])('the time of a clock in %s at %s is %s', (zone, text, iso) => {
    const at = fromClockTime(zone, text);
    expect(at?.toISOString()).toBe(iso);
    expect(toClockTime(zone, new Date(iso))).toBe(text.length === 16 ? `${text}:00` : text);
  });

  it.each([
    ...[null, '', 'now', '2026-07-01', '2026-13-01T00:00', '2026-07-01T25:00'],
    ...['2026-07-01T12:00Z', '0000-01-01T00:00', '1969-12-31T23:59', '9999-12-31T23:59:59'],
  ])('is none for %j', (text) => {
    expect(fromClockTime('UTC', text)).toBeNull();
  });
});

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
