import { exchangeResults, type GatewayExchange } from '../../contract/gateway-exchange.ts';
import { type Fragment, first, type Queries } from '../driver/sql.ts';

/** The recorded calls of one hour with one result. */
export interface CallCount {
  hour: Date;
  result: GatewayExchange['result'];
  count: number;
}

/** It counts at most this many calls of each result. */
export const callsMax = 100_000;

/** Everything but silence, and a fault of ours, which says nothing about the gateway. */
const answers = exchangeResults.filter((result) => result !== 'no_answer' && result !== 'error');

/**
 * When the first call began that the gateway has not answered since its last answer; null: its last call was answered.
 * A call about one payment that it does not answer is no silence while it answers others.
 */
export const silentSince = (sql: Queries, gateway: Fragment) => sql`(
  select u.at from gateway_exchanges u
  where u.gateway = ${gateway} and u.result = 'no_answer' and u.at > coalesce((
    select max(a.at) from unnest(${answers}::text[]) as r (result) cross join lateral (
      select x.at from gateway_exchanges x where x.gateway = ${gateway} and x.result = r.result
      order by x.at desc limit 1
    ) as a), '-infinity')
  order by u.at limit 1)`;

/**
 * When the first opening began that has failed since the silent gateway `g` last opened a payment. A purge may have deleted
 * it: then the latest time that it can be.
 */
export const opensNothingSince = (sql: Queries) => sql`coalesce((
  select min(x.at) from unnest('{no_answer,refused}'::text[]) as r (result) cross join lateral (
    select u.at from gateway_exchanges u
    where u.gateway = g.slug and u.result = r.result and u.operation = 'open' and u.at > coalesce((
      select o.at from gateway_exchanges o where o.gateway = g.slug and o.result = 'opened'
      order by o.at desc limit 1), '-infinity')
    order by u.at limit 1
  ) as x), least(g.silent_until, now()))`;

/** The figures of one gateway. Each reads ranges of the index of its exchanges. */
export const createGatewayFigures = (sql: Queries) => ({
  async calls(gateway: string, since: Date): Promise<CallCount[]> {
    return sql<CallCount[]>`
      select date_trunc('hour', x.at, 'UTC') as hour, r.result, count(*)::int
      from unnest(${[...exchangeResults]}::text[]) as r (result) cross join lateral (
        select x.at from gateway_exchanges x
        where x.gateway = ${gateway} and x.result = r.result and x.at >= ${since}
        order by x.at desc limit ${callsMax}
      ) as x
      group by 1, 2`;
  },

  async silentSince(gateway: string): Promise<Date | null> {
    const [row] = await sql<{ since: Date | null }[]>`
      select ${silentSince(sql, sql`${gateway}`)} as since`;
    return row?.since ?? null;
  },

  /** The last call without an answer, or that failed here. */
  lastError: (gateway: string) =>
    first(sql<(GatewayExchange & { paymentId: string })[]>`
      select e.* from unnest('{no_answer,error}'::text[]) as r (result) cross join lateral (
        select x.at, x.operation, x.result, x.code, x.message, x.duration_ms as "durationMs", x.payment_id as "paymentId"
        from gateway_exchanges x where x.gateway = ${gateway} and x.result = r.result
        order by x.at desc limit 1
      ) as e
      order by e.at desc limit 1`),
});
