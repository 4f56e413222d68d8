import { isDeepStrictEqual } from 'node:util';
import type {
  AccountDifferenceKind,
  AccountDifferenceState,
} from '../../contract/account-difference.ts';
import type { AccountDay, MovementSum } from '../../contract/movement.ts';
import { hashDay } from './hash.ts';
import { first, type Fragment, type Queries } from '../driver/sql.ts';

/** A day that was compared. */
export interface ComparedDay extends AccountDay {
  /** `list`: with the gateway's list. `each`: by asking about each movement. */
  method: 'list' | 'each';
  comparedAt: Date;
  closedAt: Date | null;
  /** Null until it is closed. */
  movements: number | null;
  /** Hexadecimal. */
  hash: string | null;
  /** Differences that nobody has explained. */
  open: number;
}

export interface AccountDifference extends AccountDay {
  id: number;
  kind: AccountDifferenceKind;
  /** The movement, or the gateway's own id of its entry. */
  subject: string;
  paymentId: string | null;
  refundId: string | null;
  application: string | null;
  test: boolean;
  /** Whether the payment is here, or only named by the gateway. */
  hasPayment: boolean;
  /** The workflow of a payment whose money is not paid here runs. Null: Temporal was not asked. */
  workflowRuns: boolean | null;
  /** Null on the side that has nothing. Minor units. */
  ourAmount: number | null;
  ourCurrency: string | null;
  ourTime: Date | null;
  theirAmount: number | null;
  theirCurrency: string | null;
  theirTime: Date | null;
  /** The gateway's own name of its entry, where it is of a kind that is unknown here. */
  theirName: string | null;
  state: AccountDifferenceState;
  reason: string | null;
  foundAt: Date;
}

export interface DifferenceFilter {
  /** Null: any. */
  gateway: string | null;
  day: string | null;
  state: AccountDifferenceState | null;
  application: string | null;
  test: boolean | null;
  /** The last one of the page before. */
  after?: number;
}

/** The open differences of one kind. Null on the side that has nothing. Minor units. */
export interface OpenDifferences {
  gateway: string;
  kind: AccountDifferenceKind;
  count: number;
  ours: number | null;
  ourCurrency: string | null;
  theirs: number | null;
  theirCurrency: string | null;
}

/** The balance that a gateway reports, before the first and after the last compared day of some. Minor units. */
export interface ReportedBalance {
  currency: string;
  opening: number;
  openingDay: string;
  closing: number;
  closingDay: string;
}

/** Some days of a gateway, both included. */
interface DaysOfGateway {
  gateway: string;
  from: string;
  to: string;
}

/** The days whose differences a page shows. Null: any. */
export type DifferenceOwner = Pick<DifferenceFilter, 'application' | 'test'>;

/** The condition for differences `f` of one mode. Without a payment, those of a sandbox are tests. */
export const isDifferenceOf = (sql: Queries, test: boolean | null): Fragment =>
  test === null
    ? sql`true`
    : sql`${test} = coalesce((select p.test from payments p where p.id = f.payment_id),
        (select g.kind = 'sandbox' from gateways g where g.slug = f.gateway))`;

/** Of differences `f`. */
const differenceColumns = (sql: Queries) => sql`
  id, gateway, day::text, kind, subject, payment_id as "paymentId", refund_id as "refundId", application,
  ${isDifferenceOf(sql, true)} as test, exists (select from payments p where p.id = f.payment_id) as "hasPayment", workflow_runs as "workflowRuns", our_amount as "ourAmount", our_currency as "ourCurrency", our_time as "ourTime", their_amount as "theirAmount",
  their_currency as "theirCurrency", their_time as "theirTime",
  their_name as "theirName", state, reason, found_at as "foundAt"`;

/** The compared days and their differences, for admins. */
export const createAccountDays = (sql: Queries) => ({
  /**
   * The compared days of a time, by gateway.
   * @param owner whose open differences count
   */
  async list(
    { from, to, gateway }: { from: string; to: string; gateway: string | null },
    { application, test }: DifferenceOwner,
  ): Promise<ComparedDay[]> {
    return sql<ComparedDay[]>`
      select d.gateway, d.day::text, d.method, d.compared_at as "comparedAt", d.closed_at as "closedAt", d.movements,
        encode(d.hash, 'hex') as hash, (
          select count(*) from account_differences f
          where f.gateway = d.gateway and f.day = d.day and f.state = 'open'
            and ${isDifferenceOf(sql, test)} ${application === null ? sql`` : sql`and f.application = ${application}`}) as open
      from account_days d
      where d.day between ${from} and ${to} ${gateway === null ? sql`` : sql`and d.gateway = ${gateway}`}
      order by d.gateway, d.day`;
  },

  /** The last closed day of each gateway that has one. */
  async lastClosed(): Promise<Map<string, string>> {
    const rows = await sql<AccountDay[]>`
      select gateway, max(day)::text as day from account_days where closed_at is not null group by gateway`;
    return new Map(rows.map(({ gateway, day }) => [gateway, day]));
  },

  /** The oldest first. */
  async listDifferences(filter: DifferenceFilter, limit: number): Promise<AccountDifference[]> {
    const { gateway, day, state, application, test, after = 0 } = filter;
    return sql<AccountDifference[]>`
      select ${differenceColumns(sql)} from account_differences f
      where id > ${after} and ${isDifferenceOf(sql, test)}
        ${gateway === null ? sql`` : sql`and gateway = ${gateway}`}
        ${day === null ? sql`` : sql`and day = ${day}`}
        ${state === null ? sql`` : sql`and state = ${state}`}
        ${application === null ? sql`` : sql`and application = ${application}`}
      order by id limit ${limit}`;
  },

  /** The open differences of some days, by kind and currency. */
  async sumOpen(
    { gateway, from, to }: DaysOfGateway,
    { application, test }: DifferenceOwner,
  ): Promise<OpenDifferences[]> {
    return sql<OpenDifferences[]>`
      select f.gateway, f.kind, count(*) as count, sum(f.our_amount)::bigint as ours, f.our_currency as "ourCurrency",
        sum(f.their_amount)::bigint as theirs, f.their_currency as "theirCurrency"
      from account_differences f
      where f.gateway = ${gateway} and f.day between ${from} and ${to} and f.state = 'open'
        and ${isDifferenceOf(sql, test)} ${application === null ? sql`` : sql`and f.application = ${application}`}
      group by f.gateway, f.kind, f.our_currency, f.their_currency
      order by f.kind, f.our_currency, f.their_currency`;
  },

  /** By currency. A gateway that reports no balance has none, and so has one of the other mode. */
  async balances(
    { gateway, from, to }: DaysOfGateway,
    { test }: Pick<DifferenceOwner, 'test'>,
  ): Promise<ReportedBalance[]> {
    return sql<ReportedBalance[]>`
      select currency, (array_agg(opening order by day))[1] as opening, min(day)::text as "openingDay",
        (array_agg(coalesce(reported, opening + net) order by day desc))[1] as closing, max(day)::text as "closingDay"
      from account_balances b join gateways g on g.slug = b.gateway
      where b.gateway = ${gateway} and day between ${from} and ${to} and opening is not null and net is not null
        ${test === null ? sql`` : sql`and (g.kind = 'sandbox') = ${test}`}
      group by currency order by currency`;
  },

  getDifference: (id: number) =>
    first(sql<AccountDifference[]>`
      select ${differenceColumns(sql)} from account_differences f where id = ${id}`),

  async setState(id: number, state: AccountDifferenceState, reason: string): Promise<void> {
    await sql`
      update account_differences set state = ${state}, reason = ${reason}, changed_at = now() where id = ${id}`;
  },

  /**
   * Calculates the hash of each closed day again, the oldest first. It finds changed, inserted and removed movements, also
   * before the first closed day, and days, but days at the end: for them an admin notes the last hash elsewhere.
   */
  async *verify(): AsyncGenerator<ComparedDay & { whole: boolean }> {
    let last = { gateway: '', day: '' };
    for (;;) {
      const [day] = await sql<
        (ComparedDay & { isNext: boolean; isCovered: boolean; sums: MovementSum[] })[]
      >`
        select d.gateway, d.day::text, d.method, d.compared_at as "comparedAt", d.closed_at as "closedAt",
          d.movements, encode(d.hash, 'hex') as hash, d.sums, 0 as open,
          d.gateway <> ${last.gateway} or d.day - 1 = nullif(${last.day}, '')::date as "isNext",
          d.gateway = ${last.gateway}
            or not exists (select from movements m where m.gateway = d.gateway and m.day < d.day) as "isCovered"
        from account_days d
        where d.closed_at is not null
          and (d.gateway, d.day) > (${last.gateway}, coalesce(nullif(${last.day}, '')::date, '-infinity'))
        order by d.gateway, d.day limit 1`;
      if (!day) return;
      const { hash, movements, sums } = await hashDay(sql, day);
      const isAsClosed =
        hash === day.hash && movements === day.movements && isDeepStrictEqual(sums, day.sums);
      const whole = day.isNext && day.isCovered && isAsClosed;
      yield { ...day, whole };
      last = day;
    }
  },
});
