import type { Fragment, Queries } from './driver/sql.ts';

/** What is left to do, and how long it waits; counts end at 10,000, and an age is 0 where nothing waits. */
export interface BacklogMetrics {
  outboxSize: number;
  outboxAgeSeconds: number;
  /** Of the open payment whose deadline passed first. */
  overdueSeconds: number;
  /** Since a gateway was asked about the payer on the way who waits longest for that. */
  inquiryLagSeconds: number;
  exhausted: number;
  /** Of the delivery whose next attempt was due first. */
  deliveryOverdueSeconds: number;
}

const countedMax = 10_000;

/** For operators: one statement, each part of it the beginning of an index. */
export const createBacklogMetrics = (sql: Queries) => ({
  async look(): Promise<BacklogMetrics> {
    const since = (oldest: Fragment) =>
      sql`greatest(coalesce(extract(epoch from now() - (${oldest})), 0), 0)::float8`;
    const [row] = await sql<BacklogMetrics[]>`
      select
        (select count(*) from (select from workflow_outbox order by created_at limit ${countedMax}) as counted) as "outboxSize",
        ${since(sql`select created_at from workflow_outbox order by created_at limit 1`)}
          as "outboxAgeSeconds",
        ${since(sql`select expires_at from payments where status in ('pending', 'processing')
          order by expires_at limit 1`)} as "overdueSeconds",
        ${since(sql`select min(longest.at) from gateways g cross join lateral (
          select coalesce(p.inquired_at, p.checkout_at) as at from payments p
          where p.gateway = g.slug and p.checkout_at is not null
            and p.status in ('pending', 'processing') and p.expires_at > now()
          order by coalesce(p.inquired_at, p.checkout_at) limit 1) as longest`)} as "inquiryLagSeconds",
        (select count(*) from (
          select from deliveries where status = 'exhausted' limit ${countedMax}) as counted
        ) as exhausted,
        ${since(sql`select next_attempt_at from deliveries where status = 'pending'
          order by next_attempt_at limit 1`)} as "deliveryOverdueSeconds"`;
    if (!row) throw new Error('A select without a condition has a row');
    return row;
  },
});
