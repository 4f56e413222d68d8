import { isToAnswer } from './admin-disputes.ts';
import { isDifferenceOf } from './account-days.ts';
import type { Queries } from './driver/sql.ts';
import { isTokenToConfirm } from './admin-tokens.ts';
import { joinOwnDelivery, type PaymentRow, rowColumns } from './admin-payments.ts';
import { silentSince } from './gateway-figures.ts';
import { isToConfirm } from './refund-filter.ts';

/** Deliveries of one application whose last attempts failed in one way. */
export interface UndeliveredCount {
  state: 'failing' | 'exhausted';
  application: string;
  errorClass: string;
  count: number;
  /** Since when the receiver is unwell; null: it accepts others. */
  since: Date | null;
}

/** Open payments whose last call to their gateway got no answer. */
export interface SilentGateway {
  gateway: string;
  count: number;
  /** Since when it answers nothing; null: it answers about other payments. */
  since: Date | null;
}

/** The things that wait for a person. */
export interface Attention {
  /** Payments whose money the gateway may have kept. */
  moneyToCheck: number;
  undelivered: UndeliveredCount[];
  silent: SilentGateway[];
  /** Open payments that wait for another one, which holds their order and has not ended. */
  ordersWaiting: number;
  /** Open payments whose deadline and grace are over. */
  overdue: number;
  /** Disputes that a person can still answer, and the earliest end of that; null: there is none. */
  disputesToAnswer: number;
  disputeDueAt: Date | null;
  refundsByHand: number;
  /** Refunds that wait for a second admin. */
  refundsToConfirm: number;
  /** Looser rules for refunds that wait for a second admin. They are of both modes. */
  rulesToConfirm: number;
  /** Tokens with the scope refund that wait for a second admin. */
  tokensToConfirm: number;
  /** Open differences from the gateways' own books. Those of a sandbox are tests. */
  accountDifferences: number;
}

/** The kinds of payments among them. */
export const attentionKinds = ['money', 'orders', 'silent', 'overdue'] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** Every count stops here. */
export const countedMax = 10_000;
/** Silent gateways are found by this many of the open payments, those with the earliest deadlines. */
const lookedThrough = 1_000;
/** A gateway that answers takes the money of who holds an order sooner. */
const heldMinutes = 5;
/** After the grace, the sweeper has one more interval to end a payment. */
const overdueMinutes = 20;

/** The things that wait for a person, of live payments or of tests. Every part reads the beginning of an index. */
export const createAttentionQueries = (sql: Queries) => {
  const withMoneyToCheck = (test: boolean, limit: number) => sql`
    select p.* from late_payments l join payments p on p.id = l.payment_id
    where l.result = 'by_hand' and l.checked_at is null and p.test = ${test}
    order by l.found_at desc limit ${limit}`;

  const overdue = (test: boolean, limit: number) => sql`
    select p.* from payments p
    where p.status in ('pending', 'processing')
      and p.expires_at < now() - make_interval(mins => ${overdueMinutes}::int) and p.test = ${test}
    order by p.expires_at limit ${limit}`;

  const silent = (test: boolean, limit: number) => sql`
    select p.* from (
      select p.* from payments p
      where p.status in ('pending', 'processing') and p.checkout_at is not null and p.test = ${test}
      order by p.expires_at limit ${lookedThrough}
    ) as p cross join lateral (
      select x.result from gateway_exchanges x where x.payment_id = p.id order by x.id desc limit 1
    ) as x
    where x.result = 'no_answer' limit ${limit}`;

  const waitingForOrder = (test: boolean, limit: number) => sql`
    select p.* from payments h join payments p
      on p.application = h.application and p.test = h.test and p.order_id = h.order_id and p.id <> h.id
    where h.status in ('pending', 'processing') and p.status = 'processing'
      and h.order_claimed_at < now() - make_interval(mins => ${heldMinutes}::int) and p.test = ${test}
    order by h.order_claimed_at limit ${limit}`;

  const lists = { orders: waitingForOrder, money: withMoneyToCheck, silent, overdue };

  return {
    async get(test: boolean): Promise<Attention> {
      const [counts, undelivered, silentGateways] = await Promise.all([
        sql<Omit<Attention, 'undelivered' | 'silent'>[]>`
          select (select count(*) from (${withMoneyToCheck(test, countedMax)}) as m)::int as "moneyToCheck",
            (select count(*) from (${overdue(test, countedMax)}) as o)::int as overdue,
            (select count(*) from (${waitingForOrder(test, countedMax)}) as w)::int as "ordersWaiting",
            (select count(*) from (select from disputes d
              where ${isToAnswer(sql)} and d.test = ${test} limit ${countedMax}) as d)::int as "disputesToAnswer",
            (select d.respond_by from disputes d where ${isToAnswer(sql)} and d.test = ${test}
              order by d.respond_by limit 1) as "disputeDueAt",
            (select count(*) from (select from refunds r where r.stage = 'by_hand' and r.test = ${test}
              limit ${countedMax}) as r)::int as "refundsByHand",
            (select count(*) from (select from refunds r
              where ${isToConfirm(sql)} and r.test = ${test}
              limit ${countedMax}) as r)::int as "refundsToConfirm",
            (select count(*) from refund_rule_requests)::int as "rulesToConfirm",
            (select count(*) from tokens t
              where ${isTokenToConfirm(sql)} and t.mode = ${test ? 'test' : 'live'})::int as "tokensToConfirm",
            (select count(*) from (select from account_differences f
              where f.state = 'open' and ${isDifferenceOf(sql, test)}
              limit ${countedMax}) as f)::int as "accountDifferences"`,
        sql<UndeliveredCount[]>`
          select d.state, d.application, d.error_class as "errorClass", count(*)::int,
            (select r.since from receivers r
              where r.application = d.application and r.test = ${test} and r.state <> 'ok') as since
          from (
            (select 'failing' as state, d.application, d.error_class from deliveries d
              where d.status = 'pending' and d.error_class is not null and d.test = ${test}
              limit ${countedMax})
            union all
            (select 'exhausted', d.application, coalesce(d.error_class, 'unknown') from deliveries d
              where d.status = 'exhausted' and d.test = ${test} limit ${countedMax})
          ) as d
          group by 1, 2, 3 order by 4 desc, 2, 3`,
        sql<SilentGateway[]>`
          select s.gateway, s.count, ${silentSince(sql, sql`s.gateway`)} as since
          from (select gateway, count(*)::int from (${silent(test, lookedThrough)}) as p group by 1) as s
          order by 2 desc, 1`,
      ]);
      const [row] = counts;
      if (!row) throw new Error('A select without a condition returned no row');
      return { ...row, undelivered, silent: silentGateways };
    },

    /** The payments of one kind, through one gateway or through all of them (null). */
    async list(
      kind: AttentionKind,
      { test, gateway }: { test: boolean; gateway: string | null },
      limit: number,
    ): Promise<PaymentRow[]> {
      return sql<PaymentRow[]>`
        select ${rowColumns(sql)}
        from (
          select l.* from (${lists[kind](test, gateway === null ? limit : lookedThrough)}) as l
          where true ${gateway === null ? sql`` : sql`and l.gateway = ${gateway}`} limit ${limit}
        ) as p ${joinOwnDelivery(sql)}
        order by p.expires_at desc, p.id`;
    },
  };
};
