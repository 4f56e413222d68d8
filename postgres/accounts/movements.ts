import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListMovements } from '../../contract/list-movements.ts';
import { type Movement, movementKinds, type MovementSum } from '../../contract/movement.ts';
import type { Queries } from '../driver/sql.ts';
import { conditionsOf, rangeOf } from '../list.ts';
import type { Owner } from '../payments/payments.ts';

/** Some days of a gateway, both included. */
export interface ExportFilter {
  gateway: string;
  /** Null: every one. */
  application: string | null;
  /** Null: live and test. */
  test: boolean | null;
  from: string;
  to: string;
}

/** A movement with the time of its account, which has the offset from UTC. */
export type ExportedMovement = Movement & { localTime: string };

const exportPage = 1_000;

/** Of movements `m` and their gateways `g`. */
const columns = (sql: Queries) => sql`
  m.id, m.kind, m.gateway, m.day::text, m.payment_id as "paymentId", m.refund_id as "refundId", m.application, m.test,
  m.order_id as "orderId", m.amount, m.currency, m.reference, m.occurred_at as "occurredAt",
  m.recorded_at as "recordedAt", case when (m.occurred_at at time zone g.time_zone)::date < m.day
    then (m.occurred_at at time zone g.time_zone)::date::text end as "earlierDay"`;

export const createMovements = (sql: Queries) => ({
  /** Those of an application, the newest first. It reads only the beginning of a range of one index for each kind. */
  async list(
    { kind, from, to, ...filter }: Owner & Filters<ListMovements>,
    { after, limit }: ListPage,
  ): Promise<Movement[]> {
    const kinds = kind === null ? movementKinds : [kind];
    const order = sql`order by m.recorded_at desc, m.id desc limit ${limit}`;
    return sql<Movement[]>`
      select ${columns(sql)} from unnest(${kinds}::text[]) as wanted (kind) cross join lateral (
        select * from movements m
        where m.kind = wanted.kind ${conditionsOf(sql, filter, {
          application: (application) => sql`m.application = ${application}`,
          test: (test) => sql`m.test = ${test}`,
          paymentId: (id) => sql`m.payment_id = ${id}`,
        })} ${rangeOf(sql, { from, to }, after, { at: sql`m.recorded_at`, id: sql`m.id` })}
        ${order}) m
      join gateways g on g.slug = m.gateway
      ${order}`;
  },

  /** All movements of some days, in pages: by day and id. */
  async *export({
    gateway,
    application,
    test,
    from,
    to,
  }: ExportFilter): AsyncGenerator<ExportedMovement[]> {
    let last = { day: from, id: '' };
    for (;;) {
      const page = await sql<ExportedMovement[]>`
        select ${columns(sql)}, to_char(m.occurred_at at time zone g.time_zone, 'YYYY-MM-DD"T"HH24:MI:SS.MS')
          || case when o.seconds < 0 then '-' else '+' end
          || to_char(make_interval(secs => abs(o.seconds)), 'HH24:MI') as "localTime"
        from movements m join gateways g on g.slug = m.gateway
        cross join lateral (select extract(epoch from
          (m.occurred_at at time zone g.time_zone) - (m.occurred_at at time zone 'UTC')) as seconds) o
        where m.gateway = ${gateway} and m.day <= ${to} and (m.day, m.id) > (${last.day}, ${last.id})
          ${application === null ? sql`` : sql`and m.application = ${application}`}
          ${test === null ? sql`` : sql`and m.test = ${test}`}
        order by m.day, m.id limit ${exportPage}`;
      const end = page.at(-1);
      if (end) yield page;
      if (!end || page.length < exportPage) return;
      last = end;
    }
  },

  /** A closed day was added up when it was closed. */
  async sum({ gateway, application, test, from, to }: ExportFilter): Promise<MovementSum[]> {
    return sql<MovementSum[]>`
      with closed as (
        select max(day) as last from account_days where gateway = ${gateway} and closed_at is not null
      ), parts as (
        select s.* from account_days d
        cross join lateral jsonb_to_recordset(d.sums)
          as s (application text, test boolean, kind text, currency text, count bigint, amount bigint)
        where d.gateway = ${gateway} and d.day between ${from} and ${to}
        union all
        select application, test, kind, currency, count(*), sum(amount) from movements
        where gateway = ${gateway} and day <= ${to}
          and day >= greatest(${from}::date, coalesce((select last + 1 from closed), '-infinity'))
        group by application, test, kind, currency
      )
      select application, test, kind, currency, sum(count)::bigint as count, sum(amount)::bigint as amount from parts
      where true ${application === null ? sql`` : sql`and application = ${application}`}
        ${test === null ? sql`` : sql`and test = ${test}`}
      group by application, test, kind, currency order by application, test, currency, kind`;
  },
});
export type Movements = ReturnType<typeof createMovements>;
