import { everyDelivery, matchingDeliveries } from '../webhooks/delivery-filter.ts';
import type { Queries } from '../driver/sql.ts';

/** Attempts of one hour, or of all. */
export interface ReceiverFigures {
  /** Null: all of them together. */
  hour: Date | null;
  attempts: number;
  /** Answered with 2xx. */
  accepted: number;
  /** Half of the answers and 95 of 100 took so many milliseconds at most; null: there was no answer. */
  p50: number | null;
  p95: number | null;
  lastAcceptedAt: Date | null;
}

/** Failed payments of one gateway and reason, in the quarters of the time since then. */
export interface FailureCount {
  gateway: string;
  failureCode: string;
  /** From the oldest on. */
  quarters: number[];
}

/** It reads the attempts of at most this many events. */
export const receiverEventsMax = 5_000;
/** It reads at most this many attempts of each event. */
const attemptsMax = 100;
const failuresMax = 10_000;

/** Counts the answers of receivers and the failures of gateways. It reads the newest of large applications. */
export const createHealthQueries = (sql: Queries) => ({
  /** The attempts to deliver the events of an application and mode since then, by hour and all together. */
  async receiver(application: string, test: boolean, since: Date): Promise<ReceiverFigures[]> {
    const filter = { ...everyDelivery, application, test, from: since };
    const newest = matchingDeliveries(sql, filter, { order: 'newest', limit: receiverEventsMax });
    return sql<ReceiverFigures[]>`
      select date_trunc('hour', a.started_at, 'UTC') as hour, count(*)::int as attempts,
        (count(*) filter (where a.error_class is null))::int as accepted,
        percentile_disc(0.5) within group (order by a.duration_ms)
          filter (where a.response_status is not null) as p50,
        percentile_disc(0.95) within group (order by a.duration_ms)
          filter (where a.response_status is not null) as p95,
        max(a.completed_at) filter (where a.error_class is null) as "lastAcceptedAt"
      from (${newest}) as d cross join lateral (
        select * from attempts a where a.event_id = d.event_id order by a.number desc limit ${attemptsMax}
      ) as a
      where a.completed_at is not null and a.started_at >= ${since}
      group by grouping sets ((1), ())
      order by 1`;
  },

  /** The most frequent first. */
  async failures(
    test: boolean,
    { since, until }: { since: Date; until: Date },
    limit: number,
  ): Promise<FailureCount[]> {
    const isIn = (quarter: number) => sql`(count(*) filter (where f.quarter = ${quarter}))::int`;
    return sql<FailureCount[]>`
      select f.gateway, f.failure_code as "failureCode",
        jsonb_build_array(${isIn(1)}, ${isIn(2)}, ${isIn(3)}, ${isIn(4)}) as quarters
      from (
        select p.gateway, p.failure_code, least(4, width_bucket(extract(epoch from p.created_at),
          extract(epoch from ${since}::timestamptz), extract(epoch from ${until}::timestamptz), 4)) as quarter
        from applications a cross join lateral (
          select p.gateway, p.failure_code, p.created_at from payments p
          where p.application = a.slug and p.test = ${test} and p.status = 'failed'
            and p.created_at >= ${since}
          order by p.created_at desc, p.id desc limit ${failuresMax}
        ) as p
      ) as f
      group by 1, 2 order by count(*) desc, 1, 2 limit ${limit}`;
  },
});
