import { unpaidDifferences } from '../../contract/account-difference.ts';
import type { RecordedAccount } from '../../contract/gateway-account.ts';
import type { AccountDay } from '../../contract/movement.ts';
import { hashDay } from './hash.ts';
import { recordBalances } from './statement.ts';
import { first, type Queries, type Sql } from '../driver/sql.ts';
import { accountColumns } from '../gateways/gateways.ts';
import { recordPayoutDifferences } from './payouts.ts';

/** The account, and when its day begins and ends. */
export interface DayOfAccount extends RecordedAccount {
  from: Date;
  to: Date;
  /** The time now, by Postgres. */
  askedAt: string;
  isClosed: boolean;
  /** Older payouts change no more, and those before the account was here are of money that was not. */
  payoutsSince: Date;
}

/** The counts of a comparison. */
export interface Findings {
  open: number;
  /** New since the comparison before, or open again: money that was captured and is not paid here. */
  newUnknown: number;
}

/** Money that is not paid here: its difference, and its payment. */
export interface UnpaidDifference {
  id: number;
  paymentId: string;
}

/** The days at once that a gateway may be behind; the rest follows at the next run. */
const daysAtOnce = 31;
/** So long a payout without a list of all money is followed. */
const payoutDays = 30;

/** Compares a gateway's day with the gateway's own book. Every write may be repeated. */
export const createAccountComparison = (sql: Sql) => ({
  /**
   * The days that are over and not closed, the oldest first. An hour later no transaction of the day runs any more.
   * @param now by the worker. A clock that runs ahead closes no day: its clock and that of Postgres must agree
   */
  async listDue(now = new Date()): Promise<AccountDay[]> {
    return sql<AccountDay[]>`
      select g.slug as gateway, due.day::date::text as day
      from gateways g
      cross join lateral (
        select coalesce(
          (select max(d.day) + 1 from account_days d where d.gateway = g.slug and d.closed_at is not null),
          (g.created_at at time zone g.time_zone)::date) as first,
          ((least(now(), ${now}::timestamptz) - interval '1 hour') at time zone g.time_zone)::date - 1 as last
      ) days
      cross join lateral generate_series(
        days.first::timestamp, least(days.last, days.first + ${daysAtOnce - 1}::int)::timestamp, interval '1 day') as due(day)
      order by g.slug, due.day`;
  },

  /** Undefined if there is no such gateway. */
  getDay: ({ gateway, day }: AccountDay) =>
    first(sql<DayOfAccount[]>`
      select ${accountColumns(sql)},
        ${day}::date::timestamp at time zone time_zone as "from",
        (${day}::date + 1)::timestamp at time zone time_zone as "to", clock_timestamp()::text as "askedAt",
        greatest(created_at, (${day}::date - ${payoutDays}::int)::timestamp at time zone time_zone) as "payoutsSince",
        exists (select from account_days d where d.gateway = slug and d.day = ${day} and d.closed_at is not null) as "isClosed"
      from gateways g where slug = ${gateway}`),

  /** Names what differs on the day. A difference that is no longer found is mended. */
  async findDifferences(account: AccountDay): Promise<Findings> {
    const [start] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`;
    let newUnknown = 0;
    for (let after: string | null = ''; after !== null;) {
      const page: DifferencesPage = await recordDifferences(sql, account, after);
      newUnknown += page.newUnknown;
      after = page.last;
    }
    await recordBalances(sql, account);
    await recordPayoutDifferences(sql, account);
    const { gateway, day } = account;
    await sql`
      update account_differences set state = 'mended', changed_at = now()
      where gateway = ${gateway} and day = ${day} and state = 'open' and seen_at < ${start?.at ?? ''}::text::timestamptz`;
    const [row] = await sql<{ open: number }[]>`
      select count(*) as open from account_differences
      where gateway = ${gateway} and day = ${day} and state = 'open'`;
    return { open: row?.open ?? 0, newUnknown };
  },

  /** Open differences of the day about money that is not paid here, where the payment's id is known. */
  async listUnpaid({ gateway, day }: AccountDay, limit: number): Promise<UnpaidDifference[]> {
    return sql<UnpaidDifference[]>`
      select id, payment_id as "paymentId" from account_differences
      where gateway = ${gateway} and day = ${day} and state = 'open' and payment_id is not null
        and kind in ${sql(unpaidDifferences)}
      order by id limit ${limit}`;
  },

  async recordWorkflows(asked: readonly number[], running: readonly number[]): Promise<void> {
    await sql`
      update account_differences set workflow_runs = id = any(${running.map(String)}::text[]::bigint[])
      where id = any(${asked.map(String)}::text[]::bigint[])`;
  },

  /**
   * Records the comparison and closes the day, if it is over and the next one to close: fees, chargebacks and payouts
   * become movements, and the day gets its hash. A closed day stays as it is.
   * @param now by the worker, as for `listDue`
   */
  async finishDay(
    { gateway, day }: AccountDay,
    method: 'list' | 'each',
    now = new Date(),
  ): Promise<void> {
    await sql.begin(async (tx) => {
      // Another comparison of the account could close the day on which this one books a late fee.
      await tx`select pg_advisory_xact_lock(hashtext('account ' || ${gateway}))`;
      await tx`
        insert into account_days (gateway, day, method, compared_at) values (${gateway}, ${day}, ${method}, now())
        on conflict (gateway, day) do update set method = excluded.method, compared_at = excluded.compared_at`;
      let last: string | null = '';
      while (last !== null) last = await bookFees(tx, { gateway, day }, last);
      const closing = await tx`
        select from account_days d join gateways g on g.slug = d.gateway
        where d.gateway = ${gateway} and d.day = ${day} and d.closed_at is null
          and (d.day + 1)::timestamp at time zone g.time_zone <= least(now(), ${now}::timestamptz) - interval '1 hour'
          and d.day = coalesce(
            (select max(b.day) + 1 from account_days b where b.gateway = d.gateway and b.closed_at is not null),
            (g.created_at at time zone g.time_zone)::date)`;
      if (closing.length === 0) return;
      const { hash, movements, sums } = await hashDay(tx, { gateway, day });
      await tx`
        update account_days set closed_at = now(), hash = decode(${hash}, 'hex'), movements = ${movements},
          sums = ${tx.json(sums.map((sum) => ({ ...sum })))}
        where gateway = ${gateway} and day = ${day}`;
    });
  },
});
export type AccountComparison = ReturnType<typeof createAccountComparison>;

/** No statement may take longer than 10 s. */
const entriesAtOnce = 5_000;

/**
 * Books what the gateway kept, as some entries of its book show it. A fee that shows after its day was closed is one of a
 * later day.
 * @returns the last of the entries; null: there are no more
 */
const bookFees = async (
  tx: Queries,
  { gateway, day }: AccountDay,
  after: string,
): Promise<string | null> => {
  const [page] = await tx<{ last: string | null }[]>`
    with page as (
      select * from gateway_entries
      where gateway = ${gateway} and day = ${day} and id > ${after}
      order by id limit ${entriesAtOnce}
    ), booked as (${insertFees(tx)}
    ), looks as (
      -- The book may be the first to show a dispute, or its next withdrawal. Of a payment that a purge has deleted, it is all.
      insert into dispute_looks (payment_id, due_at)
      select distinct p.id, now() from booked b join payments p on p.id = b.payment_id
      where b.kind in ('chargeback', 'chargeback_returned')
      on conflict (payment_id) do update set number = dispute_looks.number + 1, due_at = excluded.due_at)
    select max(id) as last from page`;
  return page?.last ?? null;
};

const insertFees = (tx: Queries) => tx`
  insert into movements (id, kind, gateway, day, payment_id, application, test, order_id, amount, currency, reference,
    occurred_at)
  select moved.kind || ':' || e.gateway || ':' || e.id, moved.kind, e.gateway,
    open_day(e.gateway, e.day::timestamp at time zone g.time_zone), e.payment_id, p.application,
    coalesce(p.test, g.kind = 'sandbox'), p.order_id, moved.amount, e.currency, e.id, e.at
  from page e
  join gateways g on g.slug = e.gateway
  left join payments p on p.id = e.payment_id
  cross join lateral (values
    -- A fee of its own may have one, as its tax. That of an answer was booked with its payment.
    ('fee', (case when e.kind = 'fee' then e.amount else 0 end) - (case when e.asked then 0 else coalesce(e.fee, 0) end)),
    (case
      when e.kind in ('payout', 'payout_returned') then e.kind
      when e.kind = 'chargeback' and e.amount > 0 then 'chargeback_returned'
      when e.kind in ('chargeback', 'payment_failed') then 'chargeback' end, e.amount)) as moved (kind, amount)
  where moved.amount <> 0 and moved.kind is not null
    and (e.kind <> 'payment_failed' or (${tookBack(tx)}) = 'payment' or (moved.kind = 'fee' and (${tookBack(tx)}) = 'entry'))
  on conflict (id) do nothing
  returning kind, payment_id`;

/**
 * What the entry e of the kind `payment_failed` took back. `payment`: money that is booked. `entry`: an entry of which nothing is
 * booked but the fee. `unclear`: money of a payment that is paid here, if the list has shown no other one. `nothing`: a
 * payment that never succeeded, so that neither of the two is booked.
 */
const tookBack = (sql: Queries) => sql`
  select case
    when listed.own and booked.is and not listed.others and not other_failure.is then 'payment'
    when listed.own then 'entry'
    when booked.is and not listed.others then 'unclear'
    else 'nothing' end
  from (select exists (
      select from movements m
      where m.id in ('payment:' || e.payment_id, 'late_payment:' || e.payment_id)) as is) booked,
    (select exists (
        select from gateway_entries o
        where o.gateway = e.gateway and o.source = e.source and o.kind = 'payment') as own,
      exists (
        select from gateway_entries o
        where o.payment_id = e.payment_id and o.kind = 'payment' and e.source is not null
          and not o.asked and not ${wasTakenBack(sql)}) as others) listed,
    -- The money is booked once, however many transactions of it have failed.
    (select exists (
      select from gateway_entries f
      where f.payment_id = e.payment_id and f.kind = 'payment_failed' and f.id <> e.id
        and case when f.day = e.day and (f.at, f.id) > (e.at, e.id)
          then exists (
            select from gateway_entries o where o.gateway = f.gateway and o.source = f.source and o.kind = 'payment')
          else exists (select from movements m where m.id = 'chargeback:' || f.gateway || ':' || f.id) end) as is) other_failure`;

/** Whether the payment of the entry o failed later. Each failure of a charge takes one of its transactions back. */
const wasTakenBack = (sql: Queries) => sql`
  (select count(*) filter (where f.kind = 'payment_failed') >
      count(*) filter (where f.kind = 'payment' and (f.day, f.at, f.id) < (o.day, o.at, o.id))
    from gateway_entries f where f.gateway = o.gateway and f.source = o.source)`;

interface DifferencesPage {
  /** The last of the entries; null: there are no more. */
  last: string | null;
  newUnknown: number;
}

/** Records what some entries of the day differ in. */
const recordDifferences = async (
  sql: Queries,
  { gateway, day }: AccountDay,
  after: string,
): Promise<DifferencesPage> => {
  const [row] = await sql<DifferencesPage[]>`
    with page as (
      select * from gateway_entries
      where gateway = ${gateway} and day = ${day} and id > ${after}
      order by id limit ${entriesAtOnce}
    ), found as (
      select distinct on (f.kind, f.subject) f.*, d.id is null or d.state = 'mended' as is_new
      from (${differencesOf(sql)}) f
      left join account_differences d on d.gateway = ${gateway} and d.kind = f.kind and d.subject = f.subject
    ), kept as (
      insert into account_differences as d (gateway, day, kind, subject, payment_id, refund_id, application,
        our_amount, our_currency, our_time, their_amount, their_currency, their_time, their_name)
      select ${gateway}, ${day}::date, f.kind, f.subject, f.payment_id, f.refund_id, p.application, f.our_amount,
        f.our_currency, f.our_time, f.their_amount, f.their_currency, f.their_time, coalesce(e.name, e.source)
      from found f left join payments p on p.id = f.payment_id left join page e on e.id = f.subject
      on conflict (gateway, kind, subject) do update set day = excluded.day, payment_id = excluded.payment_id,
        refund_id = excluded.refund_id, application = excluded.application, our_amount = excluded.our_amount,
        our_currency = excluded.our_currency, our_time = excluded.our_time, their_amount = excluded.their_amount,
        their_currency = excluded.their_currency, their_time = excluded.their_time, their_name = excluded.their_name,
        seen_at = excluded.seen_at,
        state = case when d.state = 'mended' then 'open' else d.state end
    )
    select (select max(id) from page) as last, (
      select count(*) from found
      where is_new and kind in ${sql(unpaidDifferences)}) as "newUnknown"`;
  return row ?? { last: null, newUnknown: 0 };
};

/** What differs, by what the two sides show of the day. Balances and payouts have statements of their own. */
const differencesOf = (sql: Queries) => sql`
  with entry as (
    select e.*, p.status, r.status as refund_status, case e.kind
      -- With what took it back it comes to nothing, or both are booked.
      when 'payment' then case when not (select ${wasTakenBack(sql)} from (select e.*) o)
        then array['payment:' || e.payment_id, 'late_payment:' || e.payment_id] end
      when 'refund' then array[coalesce('refund:' || e.refund_id, 'late_reversal:' || e.payment_id)]
      when 'refund_returned' then array['refund_returned:' || e.refund_id] end as movements
    from page e
    left join payments p on p.id = e.payment_id
    left join refunds r on r.id = e.refund_id
  ), matched as (
    select e.*, m.id as movement, m.amount as our_amount, m.currency as our_currency, m.occurred_at as our_time,
      exists (
        select from gateway_entries o
        where o.payment_id = e.payment_id and o.kind = e.kind
          and case when e.kind = 'payment' then not ${wasTakenBack(sql)}
            -- Without a refund it is the reversal of late money.
            else o.refund_id is not distinct from e.refund_id and (e.refund_id is not null or m.id is not null) end
          -- An entry that was found late is the repeated one, since nobody looks again at the day of the other one.
          and (o.day, o.at, o.id) < (e.day, e.at, e.id)) as is_repeated,
      -- A refund or a reversal that has not ended here, or that failed without ever succeeding: its entries come to nothing.
      e.refund_status = 'pending' or (e.kind <> 'payment'
        and not exists (
          select from movements m where m.id = coalesce('refund:' || e.refund_id, 'late_reversal:' || e.payment_id))
        and 0 = (
          select sum(o.amount) from gateway_entries o
          where o.payment_id = e.payment_id and o.refund_id is not distinct from e.refund_id
            and o.kind in ('refund', 'refund_returned'))) as refund_in_progress
    from entry e left join movements m on m.id = any(e.movements)
    where e.movements is not null
  )
  select case when is_repeated and kind = 'payment' then 'captured_twice'
      when is_repeated then 'refunded_twice'
      when kind = 'payment' then case when payment_id is null then 'captured_unknown' else 'captured_not_paid' end
      when refund_id is null and status <> 'paid' then 'reversal_unknown'
      else 'refund_unknown' end as kind,
    id as subject, coalesce(payment_id, claimed_payment_id) as payment_id, refund_id, our_amount, our_currency,
    our_time, amount as their_amount, currency as their_currency, at as their_time
  from matched where is_repeated or (movement is null and refund_in_progress is not true)
  union all
  select case when currency <> our_currency then 'currency_differs' else 'amount_differs' end, movement, payment_id,
    refund_id, our_amount, our_currency, our_time, amount, currency, at
  from matched where not is_repeated and (amount, currency) <> (our_amount, our_currency)
  union all
  select 'day_differs', movement, payment_id, refund_id, our_amount, our_currency, our_time, amount, currency, at
  from matched where not is_repeated and not asked and abs(extract(epoch from at - our_time)) > 86400
  union all
  select case when e.kind = 'unanswered' then 'not_answered'
      when m.kind in ('payment', 'late_payment') then 'payment_missing'
      when m.kind = 'late_reversal' then 'reversal_missing'
      else 'refund_missing' end,
    m.id, m.payment_id, m.refund_id, m.amount, m.currency, m.occurred_at, null, null, null
  from entry e join movements m on m.id = e.id
  where e.kind in ('absent', 'unanswered')
  union all
  select 'kind_unknown', id, coalesce(payment_id, claimed_payment_id), refund_id, null, null, null, amount,
    currency, at
  from entry e where kind = 'other' or (kind = 'payment_failed' and (${tookBack(sql)}) = 'unclear')
  union all
  select 'fee_differs', e.id, e.payment_id, null, agreed.fee, e.currency, null, e.fee, e.currency, e.at
  from entry e join gateways g on g.slug = e.gateway
  cross join lateral (
    select round(e.amount * g.fee_basis_points / 10000.0)::bigint + coalesce(g.fee_fixed, 0) as fee) agreed
  where e.kind = 'payment' and abs(e.fee - agreed.fee) > 1
    -- Money that is not booked here is a difference already.
    and exists (select from matched m where m.id = e.id and m.our_amount = e.amount)`;
