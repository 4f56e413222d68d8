import type { Queries } from '../driver/sql.ts';

/** Payments of the last 30 days that are alike to gateways and limits. */
export interface RecentPayments {
  application: string;
  test: boolean;
  gateway: string;
  currency: string;
  /** Minor units, of each. */
  amount: number;
  payments: number;
}

/** An admin waits for the count. */
export const countedMax = 50_000;
const openMax = 100_000;

/** The payments of the last days, by which an admin sees what a change does to the next ones. */
export const createRecentPayments = (sql: Queries) => ({
  /** It counts the newest ones of each application and mode. Several applications share the 50,000. */
  async count(applications: readonly string[]): Promise<RecentPayments[]> {
    const most = Math.ceil(countedMax / Math.max(applications.length, 1));
    return sql<RecentPayments[]>`
      select o.application, m.test, p.gateway, p.currency, p.amount, count(*)::int as payments
      from unnest(${[...applications]}::text[]) as o (application)
      cross join (values (false), (true)) as m (test)
      cross join lateral (
        select p.gateway, p.currency, p.amount from payments p
        where p.application = o.application and p.test = m.test and p.created_at >= now() - interval '30 days'
        order by p.created_at desc, p.id desc limit ${most}
      ) as p
      group by 1, 2, 3, 4, 5`;
  },

  /** The minutes in which the application has created more payments, and the payments beyond the number. */
  async countOver(
    application: string,
    perMinute: number,
  ): Promise<{ minutes: number; payments: number }> {
    const [row] = await sql<{ minutes: number; payments: number }[]>`
      select count(*)::int as minutes, coalesce(sum(made - ${perMinute}::int), 0)::int as payments
      from (
        select count(*) as made from (values (false), (true)) as m (test)
        cross join lateral (
          select p.created_at from payments p
          where p.application = ${application} and p.test = m.test and p.created_at >= now() - interval '30 days'
          order by p.created_at desc, p.id desc limit ${countedMax}
        ) as p
        group by date_trunc('minute', p.created_at) having count(*) > ${perMinute}::int
      ) as minutes`;
    return row ?? { minutes: 0, payments: 0 };
  },

  /** The open payments of an application, of both modes. */
  async countOpen(application: string): Promise<number> {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from (values (false), (true)) as m (test)
      cross join (values ('pending'), ('processing')) as s (status)
      cross join lateral (
        select from payments p
        where p.application = ${application} and p.test = m.test and p.status = s.status limit ${openMax}
      ) as p`;
    return row?.open ?? 0;
  },
});
