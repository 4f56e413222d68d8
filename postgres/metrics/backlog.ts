import { isToAnswer } from '../admin/disputes.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import { isSilent } from '../gateways/gateways.ts';

const maxCount = 10_000;

/** The work that waits, as gauges for operators. Each one reads only the start of an index. */
const createGauges = (sql: Queries) => {
  const count = (rows: Fragment) =>
    sql`(select count(*) from (${rows} limit ${maxCount}) as counted)`;
  const secondsSince = (oldest: Fragment) =>
    sql`greatest(coalesce(extract(epoch from now() - (${oldest})), 0), 0)::float8`;
  return {
    outboxSize: {
      name: 'payments_outbox_size',
      help: 'Payments in the outbox: their workflow is not started yet. Counted to 10,000.',
      sql: count(sql`select from workflow_outbox order by created_at`),
    },
    outboxAgeSeconds: {
      name: 'payments_outbox_oldest_age_seconds',
      help: 'Age of the oldest payment in the outbox. 0 if it is empty.',
      sql: secondsSince(sql`select created_at from workflow_outbox order by created_at limit 1`),
    },
    overdueSeconds: {
      name: 'payments_overdue_seconds',
      help: 'Time since the earliest deadline of an open payment of a live account. 0 if no deadline has passed.',
      sql: secondsSince(sql`
        select p.expires_at from payments p
        where p.status in ('pending', 'processing') and p.expires_at < now()
          and exists (select from gateways g where g.slug = p.gateway and g.kind = 'live')
        order by p.expires_at limit 1`),
    },
    inquiryLagSeconds: {
      name: 'payments_inquiry_lag_seconds',
      help: 'Longest time since a payer was sent to a live account without an inquiry. 0 without such a payer.',
      sql: secondsSince(sql`
        select min(longest.at) from gateways g cross join lateral (
          select coalesce(p.inquired_at, p.checkout_at) as at from payments p
          where g.kind = 'live' and p.gateway = g.slug and p.checkout_at is not null
            and p.status in ('pending', 'processing') and p.expires_at > now()
          order by coalesce(p.inquired_at, p.checkout_at) limit 1) as longest`),
    },
    exhausted: {
      name: 'payments_webhooks_exhausted',
      help: 'Deliveries of live payments whose attempts all failed. Counted to 10,000.',
      sql: count(sql`select from deliveries where status = 'exhausted' and not test`),
    },
    deliveryOverdueSeconds: {
      name: 'payments_webhooks_overdue_seconds',
      help: 'Time since the earliest pending attempt of a live payment was due, without postponed deliveries. 0 if none is overdue.',
      sql: secondsSince(sql`
        select next_attempt_at from deliveries
        where status = 'pending' and postponed_at is null and not test
        order by next_attempt_at limit 1`),
    },
    noticeOverdueSeconds: {
      name: 'payments_notices_overdue_seconds',
      help: 'Time since the earliest mail to the people of an application was due. 0 if none is overdue.',
      sql: secondsSince(sql`
        select next_try_at from notices where next_try_at is not null order by next_try_at limit 1`),
    },
    gatewaysSilent: {
      name: 'payments_gateways_silent',
      help: 'Live gateways whose last openings failed in a row. Each counts until it opens a payment.',
      sql: sql`(select count(*) from gateways g where ${isSilent(sql)} and g.kind = 'live' and g.enabled)`,
    },
    disputesDue: {
      name: 'payments_disputes_due',
      help: 'Disputes at live accounts that must be answered within 72 hours. Counted to 10,000.',
      sql: count(sql`
        select from disputes d
        where ${isToAnswer(sql)} and d.respond_by <= now() + interval '72 hours' and not d.test
          and exists (select from gateways g where g.slug = d.gateway and g.kind = 'live')`),
    },
    accountDaysDue: {
      name: 'payments_account_days_due',
      help: 'Days that are over and not closed, of the live account that is furthest behind in the comparison with its book.',
      sql: sql`(
        select coalesce(max(greatest((now() at time zone g.time_zone)::date - 1 - coalesce(
          (select max(d.day) from account_days d where d.gateway = g.slug and d.closed_at is not null),
          (g.created_at at time zone g.time_zone)::date - 1), 0)), 0)
        from gateways g where g.kind = 'live' and g.enabled)`,
    },
  };
};

export type BacklogMetrics = Record<keyof ReturnType<typeof createGauges>, number>;

export const createBacklogMetrics = (sql: Queries) => {
  const gauges = createGauges(sql);
  const columns = Object.entries(gauges).map(
    ([field, gauge], index) => sql`${index === 0 ? sql`` : sql`,`} ${gauge.sql} as ${sql(field)}`,
  );
  return {
    gauges,
    /** One statement for all gauges. */
    async measure(): Promise<BacklogMetrics> {
      const [row] = await sql<[BacklogMetrics]>`select ${columns}`;
      return row;
    },
  };
};
