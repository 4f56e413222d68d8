import { joinOwnDelivery, ownersOf, type PaymentRow, rowColumns } from '../admin/payments.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import type { Refund } from '../../contract/refund.ts';

/** The applications and the mode whose records a search may find, and the most that it shows. */
export interface SearchScope {
  /** Null: of all. */
  applications: readonly string[] | null;
  test: boolean;
  limit: number;
}

export type FoundRefund = Pick<
  Refund,
  | 'id'
  | 'paymentId'
  | 'application'
  | 'test'
  | 'orderId'
  | 'status'
  | 'amount'
  | 'currency'
  | 'createdAt'
>;

/** The end of an id is in no index: the search looks through so many of the newest, shared by the applications. */
export const newestSearched = 50_000;
const newestOfOneMin = 1_000;

/** Lookups by parts of what people have. Each reads short ranges of indexes, for each application and mode. */
export const createSearchQueries = (sql: Queries) => {
  const inScope = (applications: readonly string[] | null, column: Fragment) =>
    applications === null ? sql`true` : sql`${column} = any(${[...applications]}::text[])`;

  const listPayments = (
    { applications, test, limit }: SearchScope,
    matching: Fragment,
  ): Promise<PaymentRow[]> => sql<PaymentRow[]>`
    select ${rowColumns(sql)} from (
      select p.* from ${ownersOf(sql, { application: null, test })}
      cross join lateral (${matching}) as p
      where ${inScope(applications, sql`o.slug`)}
      order by p.created_at desc, p.id desc limit ${limit}
    ) as p ${joinOwnDelivery(sql)}
    order by p.created_at desc, p.id desc`;

  const shareOf = (applications: readonly string[] | null) =>
    applications === null
      ? sql`(select greatest(${newestOfOneMin}, ${newestSearched} / greatest(count(*), 1)) from applications)`
      : sql`${Math.floor(newestSearched / Math.max(1, applications.length))}`;

  const own = sql`p.application = o.slug and p.test = o.test`;
  const newest = sql`order by p.created_at desc, p.id desc`;

  const refundColumns = sql`r.id, r.payment_id as "paymentId", r.application, r.test, r.order_id as "orderId", r.status,
    r.amount, r.currency, r.created_at as "createdAt"`;

  return {
    /** Payments whose order begins in one of these ways. The first orders of the alphabet come first. */
    byOrderPrefix: (prefixes: readonly string[], scope: SearchScope) =>
      listPayments(
        scope,
        sql`select p.* from unnest(${[...prefixes]}::text[]) as begins (so) cross join lateral (
            select p.* from payments p
            where ${own} and p.order_id ~>=~ begins.so and p.order_id ~<~ (begins.so || chr(1114111))
            order by p.order_id using ~<~, p.created_at desc limit ${scope.limit}) as p`,
      ),

    byCard: (lastDigits: string, scope: SearchScope) =>
      listPayments(
        scope,
        sql`select p.* from payments p
          where ${own} and p.card_pan_masked is not null and right(p.card_pan_masked, 4) = ${lastDigits}
          order by p.created_at desc limit ${scope.limit}`,
      ),

    /** The index has those that have ended. The lookup reads the newest 1,000 of each open state. */
    byAmount: ({ amount, currency }: { amount: number; currency: string }, scope: SearchScope) =>
      listPayments(
        scope,
        sql`(select p.* from payments p
            where ${own} and p.status in ('paid', 'failed', 'cancelled', 'expired')
              and p.currency = ${currency} and p.amount = ${amount}
            order by p.created_at desc limit ${scope.limit})
          union all
          (select p.* from (values ('pending'), ('processing')) as s (status) cross join lateral (
              select p.* from payments p where ${own} and p.status = s.status ${newest} limit 1000) as p
            where p.currency = ${currency} and p.amount = ${amount} limit ${scope.limit})`,
      ),

    /** @param part of an id, after its kind: 25 characters at most */
    byIdPrefix: (part: string, { applications, test, limit }: SearchScope) => sql<PaymentRow[]>`
      select ${rowColumns(sql)} from (
        select p.* from payments p
        where p.id >= ${`PAY_${part.padEnd(26, '0')}`} and p.id <= ${`PAY_${part.padEnd(26, 'Z')}`}
          and p.test = ${test} and ${inScope(applications, sql`p.application`)}
        order by p.id limit ${limit}
      ) as p ${joinOwnDelivery(sql)}
      order by p.created_at desc, p.id desc`,

    /** Payments among the newest whose ids end so. */
    byIdSuffix: (suffix: string, { applications, test, limit }: SearchScope) => sql<PaymentRow[]>`
        select ${rowColumns(sql)} from (
          select p.id from ${ownersOf(sql, { application: null, test })}
          cross join lateral (
            select p.id from payments p where ${own} ${newest}
              limit ${shareOf(applications)}) as p
          where ${inScope(applications, sql`o.slug`)} and right(p.id, ${suffix.length}::int) = ${suffix}
          limit ${limit}
        ) as n join payments p on p.id = n.id ${joinOwnDelivery(sql)}
        order by p.created_at desc, p.id desc`,

    /** Refunds whose ids begin so, or with this reference at their gateway. */
    refunds: (
      { idPrefix, reference }: { idPrefix: string | null; reference: string },
      { applications, test, limit }: SearchScope,
    ) => sql<FoundRefund[]>`
      (select ${refundColumns} from refunds r
        where ${idPrefix === null ? sql`false` : sql`r.id >= ${`REFUND_${idPrefix.padEnd(26, '0')}`} and r.id <= ${`REFUND_${idPrefix.padEnd(26, 'Z')}`}`}
          and r.test = ${test} and ${inScope(applications, sql`r.application`)}
        order by r.id limit ${limit})
      union
      (select ${refundColumns} from refunds r
        where r.gateway_reference = ${reference} and r.test = ${test} and ${inScope(applications, sql`r.application`)} limit ${limit})`,

    /** Links of exactly this order. */
    links: (orderId: string, { applications, test, limit }: SearchScope) => sql<{ id: string }[]>`
      select l.id from ${ownersOf(sql, { application: null, test })} cross join lateral (
        select l.id, l.created_at from links l
        where l.application = o.slug and l.test = o.test and l.order_id = ${orderId}
        order by l.created_at desc, l.id desc limit ${limit}) as l
      where ${inScope(applications, sql`o.slug`)}
      order by l.created_at desc, l.id desc limit ${limit}`,

    /** Disputes with this reference at their gateway. */
    disputes: (reference: string, { applications, test, limit }: SearchScope) => sql<
      { id: string }[]
    >`
      select d.id from disputes d
      where d.gateway_reference = ${reference} and d.test = ${test} and ${inScope(applications, sql`d.application`)}
      order by d.id limit ${limit}`,

    /** Refunds among the newest whose ids end so. */
    refundsBySuffix: (suffix: string, { applications, test, limit }: SearchScope) => sql<
      FoundRefund[]
    >`
      select ${refundColumns} from (
        select r.* from refunds r order by r.created_at desc, r.id desc limit ${newestSearched}
      ) as r
      where right(r.id, ${suffix.length}::int) = ${suffix} and r.test = ${test} and ${inScope(applications, sql`r.application`)}
      limit ${limit}`,

    /** Events whose ids begin so. @param prefix hexadecimal digits and hyphens of a UUID */
    events: (prefix: string, { applications, test, limit }: SearchScope) => {
      const [first, last] = ['0', 'f'].map(
        (digit) =>
          `${prefix}${'00000000-0000-0000-0000-000000000000'.replaceAll('0', digit).slice(prefix.length)}`,
      );
      return sql<{ id: string; kind: string; application: string }[]>`
        select e.id, e.kind, e.application from events e
        where e.id between ${first ?? ''}::uuid and ${last ?? ''}::uuid and e.test = ${test} and ${inScope(applications, sql`e.application`)}
        order by e.id limit ${limit}`;
    },
  };
};
