import type { Balance, StatementLine } from '../../contract/book-entry.ts';
import type { AccountDay } from '../../contract/movement.ts';
import type { Fragment, Queries } from '../driver/sql.ts';

/**
 * Whether what a list of the gateway `g` has at a time belongs to the day that is compared. So does what came into the list after its
 * own day was closed, and what is of the future: no other comparison would find it.
 */
export const belongsTo = (sql: Queries, day: string, at: Fragment): Fragment => sql`
  ((${at} at time zone g.time_zone)::date = ${day} or ${at} > now() + interval '1 day' or exists (
    select from account_days c
    where c.gateway = g.slug and c.day = (${at} at time zone g.time_zone)::date and c.closed_at is not null))`;

/** The statements of accounts: every line of a gateway's list in the currency of its balance, and the balance of each day. */
export const createAccountStatement = (sql: Queries) => ({
  /** Records those lines of the list that belong to the day. */
  async recordLines({ gateway, day }: AccountDay, lines: readonly StatementLine[]): Promise<void> {
    if (lines.length === 0) return;
    const given = lines.map(({ availableOn, ...line }) => ({ ...line, available_on: availableOn }));
    await sql`
      with kept as (
        insert into statement_lines as o (gateway, id, day, at, kind, type, category, amount, fee, currency, available_on,
          source, payout)
        select g.slug, l.id, ${day}, l.at, l.kind, l.type, l.category, l.amount, l.fee, l.currency, l.available_on, l.source,
          l.payout
        from jsonb_to_recordset(${sql.json(given)}) as l (id text, at timestamptz, kind text, type text, category text,
          amount bigint, fee bigint, currency text, available_on timestamptz, source text, payout text)
        join gateways g on g.slug = ${gateway}
        where ${belongsTo(sql, day, sql`l.at`)}
        on conflict (gateway, id) do update set at = excluded.at, kind = excluded.kind, type = excluded.type,
          category = excluded.category, amount = excluded.amount, fee = excluded.fee, currency = excluded.currency,
          available_on = excluded.available_on, source = excluded.source, payout = excluded.payout, read_at = now()
        where o.day = ${day}
        returning o.*
      )
      -- One that has come back has changed.
      insert into payouts (gateway, id, amount, currency, created_at, due_at)
      select distinct on (payout) gateway, payout, case kind when 'payout' then -amount else amount end, currency, at, now()
      from kept where payout is not null
      order by payout, kind
      on conflict (gateway, id) do update set due_at = excluded.due_at`;
  },

  /** Forgets lines of the day that the gateway's list has no more. @param since when its reading began, by Postgres */
  async forgetUnlisted({ gateway, day }: AccountDay, since: string): Promise<void> {
    await sql`
      delete from statement_lines
      where gateway = ${gateway} and day = ${day} and read_at < ${since}::text::timestamptz`;
  },

  /** Records the balance at the end of a day, as the gateway reports it. A currency that it does not name has nothing. */
  async recordReported({ gateway, day }: AccountDay, reported: readonly Balance[]): Promise<void> {
    const balances = reported.map(({ currency, amount }) => ({ currency, amount }));
    await sql`
      with reported as (
        select * from jsonb_to_recordset(${sql.json(balances)}) as t (currency text, amount bigint)
      ), named as (
        select currency, amount from reported
        union all
        select distinct currency, 0::bigint from (
          select currency from account_balances where gateway = ${gateway}
          union all select currency from statement_lines where gateway = ${gateway} and day = ${day}) known
        where currency not in (select currency from reported)
      )
      insert into account_balances (gateway, day, currency, reported)
      select ${gateway}, ${day}, currency, amount from named
      on conflict (gateway, day, currency) do update set reported = excluded.reported`;
  },
});
export type AccountStatement = ReturnType<typeof createAccountStatement>;

/**
 * Adds up the lines of a day, and names each balance that the gateway reports otherwise. A balance that was reported is the next
 * opening one, so a gap is named on its own day alone. That of the first day that has one opens the account.
 */
export const recordBalances = async (sql: Queries, { gateway, day }: AccountDay): Promise<void> => {
  await sql`
    with moved as (
      select currency, sum(net)::bigint as net from statement_lines
      where gateway = ${gateway} and day = ${day} group by currency
    ), before as (
      select distinct on (currency) currency, coalesce(reported, opening + net) as closing from account_balances
      where gateway = ${gateway} and day < ${day} and (reported is not null or opening is not null)
      order by currency, day desc
    ), today as (
      select currency, reported from account_balances where gateway = ${gateway} and day = ${day}
    )
    insert into account_balances (gateway, day, currency, opening, net)
    select ${gateway}, ${day}, currency,
      coalesce(before.closing, case when exists (select from before) then 0 else today.reported - coalesce(moved.net, 0) end),
      coalesce(moved.net, 0)
    from moved full join before using (currency) full join today using (currency)
    on conflict (gateway, day, currency) do update set opening = excluded.opening, net = excluded.net`;
  await sql`
    insert into account_differences as d (gateway, day, kind, subject, our_amount, our_currency, their_amount,
      their_currency)
    select gateway, day, 'balance_differs', 'balance:' || day || ':' || currency, opening + net, currency, reported, currency
    from account_balances
    where gateway = ${gateway} and day = ${day} and opening + net <> reported
    on conflict (gateway, kind, subject) do update set our_amount = excluded.our_amount,
      their_amount = excluded.their_amount, seen_at = excluded.seen_at,
      state = case when d.state = 'mended' then 'open' else d.state end`;
};
