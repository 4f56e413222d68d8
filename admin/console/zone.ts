import { dayMs } from '../../contract/time.ts';

const formatters = new Map<string, Intl.DateTimeFormat>();

const formatterOf = (zone: string): Intl.DateTimeFormat => {
  const known = formatters.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  formatters.set(zone, made);
  return made;
};

/** The date, the time and the offset that a clock in the zone shows. */
const clockOf = (zone: string, at: Date) => {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = Object.fromEntries(
    formatterOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return {
    date: `${parts.year}-${parts.month}-${parts.day}`,
    time: `${parts.hour}:${parts.minute}:${parts.second}`,
    offset: zone === 'UTC' ? 'UTC' : parts.timeZoneName?.replace('GMT', '') || '+00:00',
  };
};

/** `2026-11-23 14:05:09 +01:00`. */
export const formatIn = (zone: string, at: Date): string => {
  const { date, time, offset } = clockOf(zone, at);
  return `${date} ${time} ${offset}`;
};

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `23 Nov, 14:05`, with the year unless it is this one. For a column whose head names the zone. */
export const formatShort = (zone: string, at: Date, now: Date): string => {
  const { date, time } = clockOf(zone, at);
  const [year, month, day] = date.split('-').map(Number);
  const isThisYear = clockOf(zone, now).date.startsWith(`${year}-`);
  return `${day} ${months[(month ?? 1) - 1]}${isThisYear ? '' : ` ${year}`}, ${time.slice(0, 5)}`;
};

/** The time that a clock in the zone shows, as a browser's field for a date and time takes it. */
export const toClockTime = (zone: string, at: Date): string => {
  const { date, time } = clockOf(zone, at);
  return `${date}T${time}`;
};

const clockTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

/** When a clock in the zone shows this time; null for any other text. */
export const fromClockTime = (zone: string, text: string | null): Date | null => {
  if (text === null || !clockTime.test(text)) return null;
  const shown = Date.parse(`${text}Z`);
  // In a time zone, the first and last years of four digits lead to others, which Postgres does not take.
  if (!(shown >= 0 && shown < Date.UTC(9999, 0))) return null;
  const offsetAt = (ms: number) => Date.parse(`${toClockTime(zone, new Date(ms))}Z`) - ms;
  // The offsets before and after a change of the clock, which may be on this day.
  const before = shown - offsetAt(shown - dayMs);
  const after = shown - offsetAt(shown + dayMs);
  // A clock that goes back shows the time twice: the first one counts. A clock that goes forward skips it: then the
  // time counts that it would show without the change.
  const shownAt = [before, after].filter((at) => at + offsetAt(at) === shown);
  return new Date(shownAt.length === 0 ? before : Math.min(...shownAt));
};
