import { hourMs } from '../../contract/time.ts';
import { addDays, isDay } from './calendar.ts';
import { isZone } from './pages/settings.ts';
import { oneOf } from './query.ts';
import type { ConsoleRequest } from './request.ts';
import { fromClockTime, toClockTime } from './zone.ts';

export interface Times {
  from: Date | null;
  to: Date | null;
}

export type TimeRequest = Pick<ConsoleRequest, 'query' | 'zone'>;

const lastHours =
  (hours: number) =>
  (now: Date): Times => ({ from: new Date(now.getTime() - hours * hourMs), to: null });

const dayIn = (zone: string, now: Date): string => toClockTime(zone, now).slice(0, 10);

const beginningOf = (zone: string, day: string): Date | null => fromClockTime(zone, `${day}T00:00`);

/** The times that a list offers by name, on the clock of the person who looks. */
const ranges = {
  today: (now, zone) => ({ from: beginningOf(zone, dayIn(zone, now)), to: null }),
  yesterday: (now, zone) => {
    const today = dayIn(zone, now);
    return { from: beginningOf(zone, addDays(today, -1)), to: beginningOf(zone, today) };
  },
  '7 days': lastHours(168),
  'this month': (now, zone) => ({
    from: beginningOf(zone, `${dayIn(zone, now).slice(0, 7)}-01`),
    to: null,
  }),
  '15 minutes': lastHours(0.25),
  '1 hour': lastHours(1),
  '6 hours': lastHours(6),
  '24 hours': lastHours(24),
} satisfies Record<string, (now: Date, zone: string) => Times>;

export type Period = keyof typeof ranges;
const periods = Object.keys(ranges) as Period[]; // Object.keys widens to string.

/** These stand beside every list. */
export const usualPeriods = ['today', 'yesterday', '7 days', 'this month'] as const;
export const shortPeriods = ['15 minutes', '1 hour', '6 hours', '24 hours'] as const;

const instant = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;

const readInstant = (text: string): Date | null => {
  const at = new Date(instant.test(text) ? text : NaN);
  return Number.isNaN(at.getTime()) ? null : at;
};

/**
 * Exact times are instants, or times or days of a clock in the zone that the address names, so that a link shows everybody
 * the same. The last day belongs to the range, as in the API.
 */
export const readExactTimes = ({ query, zone: own }: TimeRequest): Times => {
  const zone = query.read('zone', (text) => (isZone(text) ? text : null)) ?? own;
  const read = (daysLater: number) => (text: string) =>
    isDay(text)
      ? beginningOf(zone, addDays(text, daysLater))
      : (readInstant(text) ?? fromClockTime(zone, text));
  return { from: query.read('from', read(0)), to: query.read('to', read(1)) };
};

/** The end is not part of the range. */
export const isEmptyRange = ({ from, to }: Times): boolean =>
  from !== null && to !== null && from >= to;
export const emptyRange = 'No time is between “From” and “To”. Choose a “To” that is after “From”.';

/** The period that an address names. Exact times are instead of it. */
export const readPeriod = (request: TimeRequest): Period | null => {
  const named = request.query.read('period', oneOf(periods));
  const { from, to } = readExactTimes(request);
  return from === null && to === null ? named : null;
};

/** The times that an address asks for. */
export const readTimes = (request: TimeRequest, now: Date): Times => {
  const period = readPeriod(request);
  return period === null ? readExactTimes(request) : ranges[period](now, request.zone);
};
