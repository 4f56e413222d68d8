import type { BookEntry } from '../../contract/book-entry.ts';
import type { ListPage } from '../../contract/list.ts';
import type { KnownPayout, PayoutLinesState, PayoutStatus } from '../../contract/payout.ts';
import { first, type Fragment, type Queries } from '../driver/sql.ts';

export interface PayoutRecord extends KnownPayout {
  gateway: string;
  /** The gateway's own. */
  id: string;
  /** All of its lines are here. */
  isRead: boolean;
}

/** Selects payouts for a list. Null: all of them. */
export interface PayoutFilter {
  gateway: string | null;
  /** Of sandboxes. */
  test: boolean | null;
  /** What a line of a bank statement may say. */
  find: {
    words: readonly string[];
    amounts: readonly { amount: number; currency: string }[];
    /** Texts that the bank shows for it, in capitals. */
    descriptors: readonly string[];
  } | null;
}

/** A line of the statement, and what it moved the money of. */
export interface PaidOutLine {
  id: string;
  at: Date;
  kind: BookEntry['kind'];
  type: string;
  category: string | null;
  /** In minor units of the balance. */
  amount: number;
  fee: number;
  net: number;
  currency: string;
  /** The gateway's own id of the payment, the refund, or the like. */
  source: string | null;
  paymentId: string | null;
  refundId: string | null;
  orderId: string | null;
  application: string | null;
}

/** The sum of the lines of one kind. */
export interface PaidOutSum {
  kind: BookEntry['kind'];
  currency: string;
  lines: number;
  amount: number;
  fee: number;
  net: number;
}

/** A movement of a payout, with what the bank's line says of it. */
export interface BookedPayout {
  kind: 'payout' | 'payout_returned';
  gateway: string;
  /** The day of the account on which it was booked, YYYY-MM-DD. */
  day: string;
  /** Minor units; negative for money that went to the bank. */
  amount: number;
  currency: string;
  /** The gateway's own. Null, with all that follows: its list has not named the payout. */
  id: string | null;
  status: PayoutStatus | null;
  arrivesOn: string | null;
  descriptor: string | null;
  bankReference: string | null;
  lines: PayoutLinesState | null;
  /** The sum of what it has paid out. Null: not all of its lines are here, or it came back. */
  paidOut: number | null;
}

/** Of payouts `o`. */
const columns = (sql: Queries) => sql`
  o.gateway, o.id, o.amount, o.currency, o.status, o.created_at as "createdAt", o.arrives_on::text as "arrivesOn",
  o.descriptor, o.bank_reference as "bankReference", o.lines, o.read_at is not null as "isRead"`;

/** The ids of the lines of a payout: its own, and what it has paid out. */
const idsOf = (sql: Queries, gateway: string | Fragment, payout: string | Fragment) => sql`
  select id from statement_lines where gateway = ${gateway} and payout = ${payout}
  union select id from payout_lines where gateway = ${gateway} and payout = ${payout}`;

/** The payouts of gateways, for admins. */
export const createAdminPayouts = (sql: Queries) => ({
  /** The newest first. The id of the position is the gateway's own. */
  async list({ gateway, test, find }: PayoutFilter, page: ListPage): Promise<PayoutRecord[]> {
    const amounts = (find?.amounts ?? []).map((each) => ({ ...each }));
    const words = [...(find?.words ?? [])];
    const descriptors = [...(find?.descriptors ?? [])];
    return sql<PayoutRecord[]>`
      select ${columns(sql)} from payouts o join gateways g on g.slug = o.gateway
      where true ${gateway === null ? sql`` : sql`and o.gateway = ${gateway}`}
        ${test === null ? sql`` : sql`and (g.kind = 'sandbox') = ${test}`}
        ${
          find === null
            ? sql``
            : sql`and (o.id = any(${words}::text[]) or o.bank_reference = any(${words}::text[])
                or upper(o.descriptor) = any(${descriptors}::text[])
                or (abs(o.amount), o.currency) in (
                  select amount, currency from jsonb_to_recordset(${sql.json(amounts)}) as a (amount bigint, currency text)))`
        }
        ${page.after === null ? sql`` : sql`and (o.created_at, o.id) < (${page.after.at}, ${page.after.id})`}
      order by o.created_at desc, o.id desc limit ${page.limit}`;
  },

  get: (gateway: string, id: string) =>
    first(sql<PayoutRecord[]>`
      select ${columns(sql)} from payouts o where o.gateway = ${gateway} and o.id = ${id}`),

  /**
   * The payouts that were booked on some days of a gateway, by day. Their movements stand together on each day, and the
   * fences keep the planner from reading whole tables for them.
   */
  async listBooked({
    gateway,
    test,
    from,
    to,
  }: Pick<PayoutFilter, 'test'> & Record<'gateway' | 'from' | 'to', string>): Promise<
    BookedPayout[]
  > {
    return sql<BookedPayout[]>`
      select m.kind, m.gateway, m.day::text, m.amount, m.currency, o.id, o.status, o.arrives_on::text as "arrivesOn",
        o.descriptor, o.bank_reference as "bankReference", o.lines,
        case when m.kind = 'payout' and o.read_at is not null then (
          select coalesce(sum(l.net), 0)::bigint from statement_lines l
          where l.gateway = o.gateway and l.id in (${idsOf(sql, sql`o.gateway`, sql`o.id`)})
            and l.currency = o.currency and l.kind not in ('payout', 'payout_returned')) end as "paidOut"
      from generate_series(${from}::date::timestamp, ${to}::date::timestamp, interval '1 day') as d (day)
      cross join lateral (
        select * from movements
        where gateway = ${gateway} and day = d.day::date and id >= 'payout' and id < 'payouu'
          ${test === null ? sql`` : sql`and test = ${test}`} offset 0) m
      left join lateral (
        select l.payout from statement_lines l where l.gateway = m.gateway and l.id = m.reference offset 0) l on true
      left join lateral (select * from payouts where gateway = m.gateway and id = l.payout offset 0) o on true
      order by m.day, m.id`;
  },

  /** What it has paid out, by kind, without the payout itself. */
  async sum(gateway: string, id: string): Promise<PaidOutSum[]> {
    return sql<PaidOutSum[]>`
      select kind, currency, count(*)::int as lines, sum(amount)::bigint as amount, sum(fee)::bigint as fee,
        sum(net)::bigint as net
      from statement_lines
      where gateway = ${gateway} and id in (${idsOf(sql, gateway, id)}) and kind not in ('payout', 'payout_returned')
      group by kind, currency order by kind, currency`;
  },

  /** Its lines after an id, by id, with the payout itself. */
  async lines(
    gateway: string,
    id: string,
    { after, limit }: { after: string; limit: number },
  ): Promise<PaidOutLine[]> {
    return sql<PaidOutLine[]>`
      select l.id, l.at, l.kind, l.type, l.category, l.amount, l.fee, l.net, l.currency, l.source,
        coalesce(e.payment_id, p.id) as "paymentId", e.refund_id as "refundId", p.order_id as "orderId", p.application
      from statement_lines l
      left join gateway_entries e on e.gateway = l.gateway and e.id = l.id
      left join lateral (
        select id, order_id, application from payments where id = e.payment_id
        union all
        -- Without a list of all money its lines lead to payments by their references.
        select id, order_id, application from payments
        where l.day is null and gateway = l.gateway and gateway_reference = l.source) p on true
      where l.gateway = ${gateway} and l.id in (${idsOf(sql, gateway, id)}) and l.id > ${after}
      order by l.id limit ${limit}`;
  },
});
