import type { RecordedAccount } from '../contract/gateway-account.ts';
import type { KnownPayout, ListedPayout } from '../contract/payout.ts';
import type { Queries } from './driver/sql.ts';
import { accountColumns } from './gateways.ts';

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

  /** Records lines of the payout. @param next where the list goes on; null: it has ended */
  async recordLines(
    { gateway, id }: Pick<PayoutLook, 'gateway' | 'id'>,
    lines: readonly string[],
    next: string | null,
  ): Promise<void> {
    await sql`
      with paid_out as (
        update statement_lines set payout = ${id} where gateway = ${gateway} and id = any(${[...lines]}::text[])
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
   */
  async recordListed(gateway: string, payouts: readonly ListedPayout[]): Promise<void> {
    if (payouts.length === 0) return;
    const listed = payouts.map((payout) => ({
      ...{ id: payout.id, amount: payout.amount, currency: payout.currency, status: payout.status },
      ...{ created_at: payout.createdAt, arrives_on: payout.arrivesOn, lines: payout.lines },
      ...{ descriptor: payout.descriptor, bank_reference: payout.bankReference },
    }));
    const lines = payouts.flatMap(({ id, amount, currency, createdAt: at, paidOut }) =>
      [{ id, at, kind: 'payout', type: 'payout', amount: -amount, entry: null }, ...paidOut].map(
        (line) => ({ ...line, currency, payout: id }),
      ),
    );
    await sql`
      insert into statement_lines (gateway, id, at, kind, type, amount, fee, currency, entry, payout)
      select ${gateway}, id, at, kind, type, amount, 0, currency, entry, payout
      from jsonb_to_recordset(${sql.json(lines)}) as l (id text, at timestamptz, kind text, type text, amount bigint,
        currency text, entry text, payout text)
      on conflict (gateway, id) do update set amount = excluded.amount, entry = excluded.entry`;
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
        g.kind = 'sandbox', moved.sign * p.amount, p.currency, p.id, p.created_at
      from listed p
      join gateways g on g.slug = ${gateway}
      cross join lateral (
        select 'payout' as kind, -1 as sign where p.status = 'paid'
        union all
        select 'payout_returned', 1 where p.status = 'failed' and exists (
          select from movements m where m.id = 'payout:' || g.slug || ':' || p.id)) moved
      on conflict (id) do nothing`;
  },
});
export type Payouts = ReturnType<typeof createPayouts>;
