import type { RecordedAccount } from '../../contract/gateway-account.ts';
import type { KnownPayout, ListedPayout } from '../../contract/payout.ts';
import type { AccountDay } from '../../contract/movement.ts';
import type { Queries } from '../driver/sql.ts';
import { accountColumns } from '../gateways/gateways.ts';

/** A look at a payout at its gateway. */
export interface PayoutLook extends RecordedAccount {
  /** The gateway's own. */
  id: string;
  /** Where its list of lines goes on; null: at the beginning. */
  position: string | null;
  /** All of the list is here. */
  isRead: boolean;
}

/** After a look without an answer, or one that crashed. */
const retryMinutes = 10;
/** A payout that has arrived can still come back. Stripe: within five business days. */
const changesForDays = 14;

/** Payouts, which the sweeper looks at until nothing changes any more. */
export const createPayouts = (sql: Queries) => ({
  /** Claims looks that are due. One that is not recorded is due again in 10 minutes. */
  async claimLooks(limit: number): Promise<PayoutLook[]> {
    return sql<PayoutLook[]>`
      with due as (
        select gateway, id from payouts where due_at <= now() order by due_at limit ${limit} for update skip locked
      )
      update payouts p set due_at = now() + make_interval(mins => ${retryMinutes})
      from due join gateways g on g.slug = due.gateway
      where p.gateway = due.gateway and p.id = due.id
      returning p.id, p.position, p.read_at is not null as "isRead", ${accountColumns(sql)}`;
  },

  /** Records what the payout has paid out. @param next where the list goes on; null: it has ended */
  async recordPaidOut(
    { gateway, id }: Pick<PayoutLook, 'gateway' | 'id'>,
    lines: readonly string[],
    next: string | null,
  ): Promise<void> {
    await sql`
      with paid_out as (
        insert into payout_lines (gateway, id, payout)
        select distinct ${gateway}, line, ${id} from unnest(${[...lines]}::text[]) as line
        on conflict (gateway, id) do update set payout = excluded.payout
      )
      update payouts set position = ${next}, read_at = case when ${next}::text is null then now() end
      where gateway = ${gateway} and id = ${id}`;
  },

  /** Records what the gateway says of it. It is due again in a day while something may change. */
  async recordLook(
    { gateway, id }: Pick<PayoutLook, 'gateway' | 'id'>,
    known: KnownPayout,
  ): Promise<void> {
    const { amount, currency, status, createdAt, arrivesOn, descriptor, bankReference } = known;
    await sql`
      update payouts set amount = ${amount}, currency = ${currency}, status = ${status}, created_at = ${createdAt},
        arrives_on = ${arrivesOn}, descriptor = ${descriptor}, bank_reference = ${bankReference}, lines = ${known.lines},
        due_at = case
          when ${known.lines} = 'listed' and read_at is null then now()
          when ${status} = 'on_its_way' or ${known.lines} = 'later'
            or greatest(${createdAt}, ${arrivesOn}::date::timestamptz) > now() - make_interval(days => ${changesForDays})
            then now() + interval '1 day' end
      where gateway = ${gateway} and id = ${id}`;
  },

  /**
   * Records payouts of a gateway without a book, with what they have paid out. One that has arrived is a movement of the day on
   * which it left the balance, or of the first open one after it, and so is one that came back since.
   * @param account the day whose comparison has read them
   */
  async recordListed(account: AccountDay, payouts: readonly ListedPayout[]): Promise<void> {
    for (const round of eachOnce(payouts)) await recordRound(sql, account, round);
  },
});
export type Payouts = ReturnType<typeof createPayouts>;

/** Parts the list so that no part has an id twice: one statement writes each row once. */
const eachOnce = (payouts: readonly ListedPayout[]): ListedPayout[][] => {
  const rounds: ListedPayout[][] = [];
  const times = new Map<string, number>();
  for (const payout of payouts) {
    const nth = times.get(payout.id) ?? 0;
    times.set(payout.id, nth + 1);
    (rounds[nth] ??= []).push(payout);
  }
  return rounds;
};

/** What a part `l` of a payout is. A gateway may name the parts in any order. */
const partOf = (sql: Queries) => sql`jsonb_build_array(l.amount, l.source, l.type)`;

const recordRound = async (
  sql: Queries,
  { gateway, day }: AccountDay,
  payouts: readonly ListedPayout[],
): Promise<void> => {
  const listed = payouts.map((payout) => ({
    ...{ id: payout.id, amount: payout.amount, currency: payout.currency, status: payout.status },
    ...{ created_at: payout.createdAt, arrives_on: payout.arrivesOn, lines: payout.lines },
    ...{ descriptor: payout.descriptor, bank_reference: payout.bankReference },
  }));
  const lines = payouts.flatMap(({ id, amount, currency, createdAt: at, paidOut }) =>
    [{ id, at, kind: 'payout', type: 'payout', amount: -amount, source: null }, ...paidOut].map(
      (line) => ({ ...line, currency, payout: id }),
    ),
  );
  // What was booked stays, so what the gateway reports otherwise since is a difference.
  await sql`
    with listed as (
      select * from jsonb_to_recordset(${sql.json(listed)}) as p (id text, amount bigint, currency text, status text,
        created_at timestamptz, bank_reference text)
    ), parts as (
      select l.payout, jsonb_agg(${partOf(sql)} order by ${partOf(sql)}) as parts
      from jsonb_to_recordset(${sql.json(lines)}) as l (kind text, type text, amount bigint, source text, payout text)
      where l.kind <> 'payout' group by l.payout
    ), changed as (
      select p.id, array_remove(array[
        case when (p.amount, p.currency) <> (-m.amount, m.currency) then 'sum ' || p.amount || ' ' || p.currency end,
        case when p.bank_reference <> was.bank_reference then 'number ' || p.bank_reference end,
        case when p.created_at <> was.created_at then 'time' end,
        case when was.lines = 'listed' and parts.parts is distinct from (
          select jsonb_agg(${partOf(sql)} order by ${partOf(sql)}) from statement_lines l
          where l.gateway = ${gateway} and l.payout = p.id and l.kind <> 'payout') then 'parts' end,
        case when p.status = 'paid' and exists (
          select from movements b where b.id = 'payout_returned:' || ${gateway} || ':' || p.id) then 'paid again' end
      ], null) as differs
      from listed p
      join payouts was on was.gateway = ${gateway} and was.id = p.id
      join movements m on m.id = 'payout:' || ${gateway} || ':' || p.id
      left join parts on parts.payout = p.id
    )
    update payouts o set differs_on = ${day}, differs = array(
      select distinct word from unnest(o.differs || t.differs) as word order by word)
    from changed t
    where o.gateway = ${gateway} and o.id = t.id and not t.differs <@ coalesce(o.differs, '{}')`;
  await sql`
    with gone as (
      delete from statement_lines
      where gateway = ${gateway} and payout = any(${listed.map(({ id }) => id)}::text[])
        and id <> all(${lines.map(({ id }) => id)}::text[])
    )
    insert into statement_lines (gateway, id, at, kind, type, amount, fee, currency, source, payout)
    select ${gateway}, id, at, kind, type, amount, 0, currency, source, payout
    from jsonb_to_recordset(${sql.json(lines)}) as l (id text, at timestamptz, kind text, type text, amount bigint,
      currency text, source text, payout text)
    on conflict (gateway, id) do update set kind = excluded.kind, type = excluded.type, amount = excluded.amount,
      source = excluded.source`;
  await sql`
    with listed as (
      select * from jsonb_to_recordset(${sql.json(listed)}) as p (id text, amount bigint, currency text, status text,
        created_at timestamptz, arrives_on date, descriptor text, bank_reference text, lines text)
    ), kept as (
      insert into payouts (gateway, id, amount, currency, status, created_at, arrives_on, descriptor, bank_reference, lines,
        read_at)
      select ${gateway}, id, amount, currency, status, created_at, arrives_on, descriptor, bank_reference, lines,
        case when lines = 'listed' then now() end
      from listed
      on conflict (gateway, id) do update set amount = excluded.amount, status = excluded.status,
        arrives_on = excluded.arrives_on, bank_reference = excluded.bank_reference, lines = excluded.lines,
        read_at = excluded.read_at
    )
    insert into movements (id, kind, gateway, day, test, amount, currency, reference, occurred_at)
    select moved.kind || ':' || g.slug || ':' || p.id, moved.kind, g.slug, open_day(g.slug, p.created_at),
      g.kind = 'sandbox', moved.amount, p.currency, p.id, p.created_at
    from listed p
    join gateways g on g.slug = ${gateway}
    cross join lateral (
      select 'payout' as kind, -p.amount as amount where p.status = 'paid'
      union all
      select 'payout_returned', -m.amount from movements m
      where p.status = 'failed' and m.id = 'payout:' || g.slug || ':' || p.id) moved
    on conflict (id) do nothing`;
};

/** Names payouts that a gateway reported otherwise after they were booked, on the day that found it. */
export const recordPayoutDifferences = async (
  sql: Queries,
  { gateway, day }: AccountDay,
): Promise<void> => {
  await sql`
    insert into account_differences as d (gateway, day, kind, subject, our_amount, our_currency, our_time, their_amount,
      their_currency, their_time, their_name)
    select o.gateway, o.differs_on, 'payout_differs', m.id, m.amount, m.currency, m.occurred_at, -o.amount, o.currency,
      o.created_at, array_to_string(o.differs, ', ')
    from payouts o join movements m on m.id = 'payout:' || o.gateway || ':' || o.id
    where o.gateway = ${gateway} and o.differs_on = ${day}
    on conflict (gateway, kind, subject) do update set day = excluded.day, their_amount = excluded.their_amount,
      their_name = excluded.their_name, seen_at = excluded.seen_at,
      -- What an admin has explained was less.
      state = case when d.state = 'mended' or d.their_name <> excluded.their_name then 'open' else d.state end`;
};
