import { hourMs } from '../../contract/time.ts';

const shownHours = 24;

/** The beginnings of the last 24 hours, in UTC. */
export const hoursUntil = (at: Date): Date[] =>
  Array.from(
    { length: shownHours },
    (_, index) => new Date((Math.floor(at.getTime() / hourMs) - shownHours + 1 + index) * hourMs),
  );

/** Writes the beginning of an hour on the clock of a zone. */
export const hourIn = (zone: string) => {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
  });
  return (hour: Date): string => format.format(hour);
};
