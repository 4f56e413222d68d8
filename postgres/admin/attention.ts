import { isToAnswer } from './disputes.ts';
import type { GatewayKind } from '../../contract/gateway-account.ts';
import { isDifferenceOf } from '../accounts/days.ts';
import type { Queries } from '../driver/sql.ts';
import { isTokenToConfirm } from './tokens.ts';
import { paidTwice } from './orders.ts';
import { joinOwnDelivery, type PaymentRow, rowColumns } from './payments.ts';
import { opensNothingSince, silentSince } from '../gateways/figures.ts';
import { isSilent } from '../gateways/gateways.ts';
import { isToConfirm } from '../refunds/filter.ts';

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

/** A gateway that is silent: its last openings failed in a row, and it has opened no payment since. */
export interface OpensNothing {
  gateway: string;
  enabled: boolean;
  kind: GatewayKind;
  /** When the first of these openings began. */
  since: Date;
  /** Pending payments that it may open and no gateway has opened. */
  waiting: number;
  /** Those that have failed since then for want of an opening, also because of the account. */
  failed: number;
}

/** The things that wait for a person. */
export interface Attention {
  /** Payments whose money the gateway may have kept. */
  moneyToCheck: number;
  undelivered: UndeliveredCount[];
  opensNothing: OpensNothing[];
  silent: SilentGateway[];
  /** Open payments that wait for another one, which holds their order and has not ended. */
  ordersWaiting: number;
  /** Orders of which several payments have money, and those of them that several payments have paid with real money. */
  ordersPaidTwice: number;
  ordersPaidTwiceLive: number;
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
export const attentionKinds = ['money', 'orders', 'unopened', 'silent', 'overdue'] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** Every count stops here. */
export const countedMax = 10_000;
/** Silent gateways are found by this many of the open payments, those with the earliest deadlines. */
const lookedThrough = 1_000;
/** Unopened payments are found among this many of the newest pending and failed ones of each application. */
const newestMax = 10_000;
/** A payment is open for a day at most. */
const longestHours = 25;
/** A gateway that answers takes the money of who holds an order sooner. */
const heldMinutes = 5;
/** After the grace, the sweeper has one more interval to end a payment. */
const overdueMinutes = 20;

/** A disabled gateway gets no new payments. A live one that opens nothing needs a person also while others open its payments. */
const needsPerson = ({ enabled, kind, waiting, failed }: OpensNothing, test: boolean): boolean =>
  waiting > 0 || (enabled && (failed > 0 || (kind === 'live' && !test)));

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

  /** Silent gateways `g` since `f.since`, each with its unopened payments `p`, or with none. It reads nothing without such a gateway. */
  const unopenedAtGateways = (test: boolean | null) => sql`
    gateways g cross join lateral (select ${opensNothingSince(sql)} as since) as f left join lateral (
      select newest.* from applications a
      cross join (values (true), (false)) as m (test) cross join unnest('{pending,failed}'::text[]) as s (status)
      cross join lateral (
        select p.* from payments p
        where p.application = a.slug and p.test = m.test and p.status = s.status
          and p.created_at > f.since - make_interval(hours => ${longestHours}::int)
        order by p.created_at desc, p.id desc limit ${newestMax}
      ) as newest
      where ${test === null ? sql`true` : sql`m.test = ${test}`} and newest.gateway_reference is null and (newest.gateway = g.slug or g.slug = any(newest.candidates))
        and (newest.status = 'pending' or newest.updated_at >= f.since
          and newest.failure_code in ('gateway_error', 'merchant_configuration'))
    ) as p on true
    where ${isSilent(sql)}`;

  const unopened = (test: boolean, limit: number, gateway: string | null) => sql`
    select distinct on (p.id) p.* from ${unopenedAtGateways(test)}
      and p.id is not null ${gateway === null ? sql`` : sql`and g.slug = ${gateway}`}
    order by p.id desc limit ${limit}`;

  /** @param test null: of both modes */
  const opensNothing = async (test: boolean | null): Promise<OpensNothing[]> => sql<OpensNothing[]>`
    select g.slug as gateway, g.enabled, g.kind, f.since,
      (count(*) filter (where p.status = 'pending'))::int as waiting,
      (count(*) filter (where p.status = 'failed'))::int as failed
    from ${unopenedAtGateways(test)}
    group by g.slug, f.since order by count(p.id) desc, g.slug`;

  const waitingForOrder = (test: boolean, limit: number) => sql`
    select p.* from payments h join payments p
      on p.application = h.application and p.test = h.test and p.order_id = h.order_id and p.id <> h.id
    where h.status in ('pending', 'processing') and p.status = 'processing'
      and h.order_claimed_at < now() - make_interval(mins => ${heldMinutes}::int) and p.test = ${test}
    order by h.order_claimed_at limit ${limit}`;

  const lists = { orders: waitingForOrder, money: withMoneyToCheck, unopened, silent, overdue };

  return {
    opensNothing,

    async get(test: boolean): Promise<Attention> {
      const [counts, undelivered, silentGateways, unopening] = await Promise.all([
        sql<Omit<Attention, 'undelivered' | 'silent' | 'opensNothing'>[]>`
          select o.count as "ordersPaidTwice", o.live as "ordersPaidTwiceLive",
            (select count(*) from (${withMoneyToCheck(test, countedMax)}) as m)::int as "moneyToCheck",
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
              limit ${countedMax}) as f)::int as "accountDifferences"
          from (select count(*)::int, (count(*) filter (where live > 1))::int as live
            from (${paidTwice(sql, test, countedMax)}) as o) as o`,
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
        opensNothing(test),
      ]);
      const [row] = counts;
      if (!row) throw new Error('A select without a condition returned no row');
      return {
        ...row,
        undelivered,
        silent: silentGateways,
        opensNothing: unopening.filter((each) => needsPerson(each, test)),
      };
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
          select l.* from (${lists[kind](test, gateway === null ? limit : lookedThrough, gateway)}) as l
          where true ${gateway === null || kind === 'unopened' ? sql`` : sql`and l.gateway = ${gateway}`} limit ${limit}
        ) as p ${joinOwnDelivery(sql)}
        order by p.expires_at desc, p.id`;
    },
  };
};
