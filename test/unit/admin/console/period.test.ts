import { describe, expect, it } from 'vitest';
import { readPeriod, readTimes } from '../../../../admin/console/period.ts';
import { Query } from '../../../../admin/console/query.ts';

const timesOf = (query: string, zone: string, now: string) => {
  const { from, to } = readTimes({ query: new Query(query), zone }, new Date(now));
  return [from?.toISOString() ?? null, to?.toISOString() ?? null];
};

describe('a period of a list', () => {
  const day = (at: string | null) => at && new Date(at).toISOString();

  it.each([
    ['today', 'UTC', '2026-11-27T23:59:59Z', '2026-11-27T00:00Z', null],
    ['today', 'Asia/Tehran', '2026-11-27T21:00Z', '2026-11-27T20:30Z', null],
    ['today', 'America/New_York', '2026-11-27T02:00Z', '2026-11-26T05:00Z', null],
    ['yesterday', 'Asia/Tehran', '2026-11-27T21:00Z', '2026-11-26T20:30Z', '2026-11-27T20:30Z'],
    // The day of 23 hours and the one of 25.
    ['yesterday', 'Europe/Berlin', '2026-03-30T10:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
    ['yesterday', 'Europe/Berlin', '2026-10-26T10:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    // The clock changed within the day.
    ['today', 'Europe/Berlin', '2026-03-29T20:00Z', '2026-03-28T23:00Z', null],
    ['today', 'Europe/Berlin', '2026-10-25T22:30Z', '2026-10-24T22:00Z', null],
    // Clocks that skip midnight, east and west of UTC.
    ['today', 'Africa/Cairo', '2026-04-24T10:00Z', '2026-04-23T22:00Z', null],
    ['today', 'America/Santiago', '2026-09-06T10:00Z', '2026-09-06T04:00Z', null],
    ['today', 'Atlantic/Azores', '2026-03-29T10:00Z', '2026-03-29T01:00Z', null],
    // Clocks that show midnight twice, or go back from it to the day before.
    ['today', 'America/Havana', '2026-11-01T10:00Z', '2026-11-01T04:00Z', null],
    ['today', 'Asia/Amman', '2021-10-29T10:00Z', '2021-10-28T21:00Z', null],
    ['today', 'Asia/Beirut', '2026-10-25T10:00Z', '2026-10-24T22:00Z', null],
    ['this month', 'Europe/Berlin', '2026-10-31T23:30Z', '2026-10-31T23:00Z', null],
    ['this month', 'Europe/Berlin', '2026-10-30T12:00Z', '2026-09-30T22:00Z', null],
    ['this month', 'America/New_York', '2026-01-01T02:00Z', '2025-12-01T05:00Z', null],
    ['7 days', 'Europe/Berlin', '2026-10-26T10:00Z', '2026-10-19T10:00Z', null],
    ['15 minutes', 'Asia/Tehran', '2026-10-26T10:00Z', '2026-10-26T09:45Z', null],
  ])('%s in %s at %s is from %s to %s', (period, zone, now, from, to) => {
    const query = String(new URLSearchParams({ period }));
    expect(timesOf(query, zone, now)).toEqual([day(from), day(to)]);
  });

  it.each(['', 'period=never', 'period=', 'period=Today'])('is none for %j', (query) => {
    expect(timesOf(query, 'UTC', '2026-11-27T10:00:00Z')).toEqual([null, null]);
  });

  it('may be days without a time, the last one whole', () => {
    const days = 'from=2026-03-29&to=2026-03-29&zone=Europe/Berlin';
    expect(timesOf(days, 'UTC', '2026-11-27T10:00:00Z')).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ]);
    expect(timesOf('from=2026-02-30', 'UTC', '2026-11-27T10:00:00Z')).toEqual([null, null]);
  });

  it('gives way to exact times, of the zone that the address names', () => {
    const query = 'period=today&to=2026-07-01T00:00&zone=Asia/Tehran';
    expect(timesOf(query, 'UTC', '2026-11-27T10:00:00Z')).toEqual([
      null,
      '2026-06-30T20:30:00.000Z',
    ]);
    expect(readPeriod({ query: new Query(query), zone: 'UTC' })).toBeNull();
  });
});
