import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import type { Logger } from './log.ts';
import { singleFlight } from './single-flight.ts';

export interface Deps {
  /** Reads the clock of Postgres. */
  readClock: () => Promise<Date>;
  registry: Registry;
  logger: Pick<Logger, 'error' | 'info'>;
}

/** Deadlines, signatures and the sweeper compare clocks. The alert PaymentsClockOff has the same limit. */
const offsetMaxSeconds = 60;
const intervalMs = 60_000;
const readLimitMs = 2_000;

/**
 * Compares the clock of this process with that of Postgres, at every scrape and once a minute. Logs when
 * they are more than a minute apart, and when that is over.
 */
export const watchClock = ({ readClock, registry, logger }: Deps) => {
  let isOff = false;
  const measure = singleFlight(
    async () => {
      const sentAt = Date.now();
      const there = (await readClock()).getTime();
      // Postgres read its clock at some time between the two.
      const offset = ((sentAt + Date.now()) / 2 - there) / 1000;
      const wasOff = isOff;
      isOff = Math.abs(offset) > offsetMaxSeconds;
      const facts = { offset_seconds: Math.round(offset) };
      if (isOff && !wasOff)
        logger.error(
          facts,
          'The clock of this process and the clock of Postgres are more than a minute apart: correct the wrong one, and keep both together with NTP',
        );
      if (wasOff && !isOff) logger.info(facts, 'The clock agrees with the clock of Postgres again');
      return offset;
    },
    { limitMs: readLimitMs },
  );
  registry.registerMetric(
    new Gauge({
      name: 'payments_clock_offset_seconds',
      help: 'Seconds by which the clock of this process is ahead of the clock of Postgres.',
      registers: [],
      async collect() {
        const offset = await measure();
        // No sample while the database is unavailable.
        if (offset === undefined) this.remove();
        else this.set(offset);
      },
    }),
  );
  void measure();
  const timer = setInterval(() => void measure(), intervalMs);
  return { stop: () => clearInterval(timer) };
};
