import type { Fragment, Queries } from './driver/sql.ts';

/** The work that waits. Counts stop at 10,000; an age is 0 if nothing waits. */
export interface BacklogMetrics {
  outboxSize: number;
  outboxAgeSeconds: number;
  /** Since the earliest deadline of the open payments of live accounts: others page nobody. */
  overdueSeconds: number;
  /** Since the oldest inquiry about a payment whose payer is at the gateway, through a live account. */
  inquiryLagSeconds: number;
  exhausted: number;
  /** Since the earliest due time of the pending deliveries, without tests and postponed ones: these page nobody. */
  deliveryOverdueSeconds: number;
  /** Days that are over and not closed, of the live account that is furthest behind. */
  accountDaysDue: number;
}

const maxCount = 10_000;

/** One statement for operators' metrics. Each part of it reads only the start of an index. */
export const createBacklogMetrics = (sql: Queries) => ({
  async measure(): Promise<BacklogMetrics> {
    const since = (oldest: Fragment) =>
      sql`greatest(coalesce(extract(epoch from now() - (${oldest})), 0), 0)::float8`;
    const [row] = await sql<BacklogMetrics[]>`
      select
        (select count(*) from (select from workflow_outbox order by created_at limit ${maxCount}) as counted) as "outboxSize",
        ${since(sql`select created_at from workflow_outbox order by created_at limit 1`)}
          as "outboxAgeSeconds",
        ${since(sql`select p.expires_at from payments p
          where p.status in ('pending', 'processing') and p.expires_at < now()
            and exists (select from gateways g where g.slug = p.gateway and g.kind = 'live')
          order by p.expires_at limit 1`)} as "overdueSeconds",
        ${since(sql`select min(longest.at) from gateways g cross join lateral (
          select coalesce(p.inquired_at, p.checkout_at) as at from payments p
          where g.kind = 'live' and p.gateway = g.slug and p.checkout_at is not null
            and p.status in ('pending', 'processing') and p.expires_at > now()
          order by coalesce(p.inquired_at, p.checkout_at) limit 1) as longest`)} as "inquiryLagSeconds",
        (select count(*) from (
          select from deliveries where status = 'exhausted' limit ${maxCount}) as counted
        ) as exhausted,
        ${since(sql`select next_attempt_at from deliveries
          where status = 'pending' and postponed_at is null and not test
          order by next_attempt_at limit 1`)} as "deliveryOverdueSeconds",
        (select coalesce(max(greatest((now() at time zone g.time_zone)::date - 1 - coalesce(
            (select max(d.day) from account_days d where d.gateway = g.slug and d.closed_at is not null),
            (g.created_at at time zone g.time_zone)::date - 1), 0)), 0)
          from gateways g where g.kind = 'live' and g.enabled) as "accountDaysDue"`;
    if (!row) throw new Error('A select without a condition returned no row');
    return row;
  },
});
