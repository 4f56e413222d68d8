import type { BookEntry } from '../../contract/book-entry.ts';
import type { MovementKind } from '../../contract/movement.ts';
import type { AccountDay } from '../../contract/movement.ts';
import type { Queries } from '../driver/sql.ts';
import { belongsTo } from './statement.ts';

/** A movement that the gateway's book does not show. */
export interface MovementToAsk {
  id: string;
  kind: Exclude<
    MovementKind,
    'refund_elsewhere' | 'fee' | 'chargeback' | 'chargeback_returned' | 'payout' | 'payout_returned'
  >;
  paymentId: string;
  refundId: string | null;
  reference: string | null;
  /** The money of the refund came back later. */
  hasReturned: boolean;
}

/** The gateway's answer about a movement. */
export interface Answer {
  id: string;
  result: 'found' | 'absent' | 'unanswered';
  /** The amount that was found, in minor units, never negative. Otherwise that of the movement. */
  amount?: number;
  currency?: string;
}

/** The entries of gateways' books, and which movements of ours none of them shows. */
export const createGatewayEntries = (sql: Queries) => ({
  /** Forgets what the gateway answered when it was asked, because a comparison asks again. */
  async forgetAnswers({ gateway, day }: AccountDay): Promise<void> {
    await sql`
      delete from gateway_entries
      where gateway = ${gateway} and day = ${day} and asked`;
  },

  /** Records those entries of the book that belong to the day, with the payment and the refund of each. */
  async recordEntries({ gateway, day }: AccountDay, entries: readonly BookEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const given = entries.map(({ payment, refundId, ...entry }) => ({
      ...entry,
      session: payment.reference,
      tracking_code: payment.trackingCode,
      hint: payment.id,
      refund_hint: refundId,
    }));
    await sql`
      with known as (
        select e.*, coalesce(
          (select p.id from payments p where p.gateway = g.slug and p.gateway_reference = e.session),
          (select p.id from payments p where p.gateway = g.slug and p.tracking_code = e.tracking_code limit 1),
          (select p.id from payments p where p.gateway = g.slug and p.id = e.hint),
          (select r.payment_id from refunds r join payments p on p.id = r.payment_id
            where r.gateway_reference = e.source and p.gateway = g.slug limit 1),
          -- A purge has deleted the payment.
          (select m.payment_id from movements m where m.id = 'payment:' || e.hint and m.gateway = g.slug)) as payment_known
        from jsonb_to_recordset(${sql.json(given)}) as e (id text, source text, kind text, name text,
          at timestamptz, amount bigint, currency text, fee bigint, session text, tracking_code text, hint text, refund_hint text)
        join gateways g on g.slug = ${gateway}
        where ${belongsTo(sql, day, sql`e.at`)}
          -- An earlier comparison has found it, and a purge has deleted its entry with the payment since.
          and not exists (
            select from statement_lines l where l.gateway = g.slug and l.id = e.id and l.day <> ${day})
      ), given as (
        select k.*, coalesce(payment_known,
          (select o.payment_known from known o where o.tracking_code = k.tracking_code and o.payment_known is not null limit 1),
          (select o.payment_id from gateway_entries o
            where o.gateway = ${gateway} and o.tracking_code = k.tracking_code and o.payment_id is not null limit 1)) as payment_id
        from known k
      ), followed as (
        -- A list with the newest entries first has what comes of a payment before the payment.
        update gateway_entries o set payment_id = k.payment_known from known k
        where o.gateway = ${gateway} and o.tracking_code = k.tracking_code and o.payment_id is null
          and k.payment_known is not null and not exists (select from known n where n.id = o.id)
      ), found as (
        select e.*, (
          select r.id from refunds r
          where r.payment_id = e.payment_id
            and (r.id = e.refund_hint or r.gateway_reference = e.source)
          -- Somebody may have copied it from another payment's refund.
          union all select m.refund_id from movements m
          where m.id = 'refund:' || e.refund_hint and (m.payment_id = e.payment_id
            or (e.payment_id is null and not exists (select from payments p where p.id = m.payment_id)))
          limit 1) as refund_id
        from given e
      ), listed as (
        -- An earlier comparison asked about it before the gateway listed it.
        delete from gateway_entries a using found e
        where a.gateway = ${gateway} and a.id = any(array['payment:' || e.payment_id,
          'late_payment:' || e.payment_id, 'late_reversal:' || e.payment_id, 'refund:' || e.refund_id,
          'refund_returned:' || e.refund_id])
      )
      insert into gateway_entries as o (gateway, id, source, kind, name, day, at, amount, currency, fee, payment_id,
        refund_id, claimed_payment_id, tracking_code)
      select ${gateway}, id, source, kind, name, ${day}, at, amount, currency, fee, payment_id, refund_id,
        case when hint ~ '^PAY_[0-9A-Z]{26}$' then hint end, tracking_code
      from found
      on conflict (gateway, id) do update set source = excluded.source, kind = excluded.kind, name = excluded.name,
        at = excluded.at, amount = excluded.amount, currency = excluded.currency, fee = excluded.fee,
        payment_id = excluded.payment_id, refund_id = excluded.refund_id, claimed_payment_id = excluded.claimed_payment_id,
        tracking_code = excluded.tracking_code, read_at = now()
      where o.day = ${day}`;
  },

  /** Forgets entries of the day that the gateway's list has no more. @param since when its reading began, by Postgres */
  async forgetUnlisted({ gateway, day }: AccountDay, since: string): Promise<void> {
    await sql`
      delete from gateway_entries
      where gateway = ${gateway} and day = ${day} and not asked and read_at < ${since}::text::timestamptz`;
  },

  /** Movements of the day that no entry of the book shows, on whatever day, after an id. */
  async listToAsk(
    { gateway, day }: AccountDay,
    { after, limit }: { after: string; limit: number },
  ): Promise<MovementToAsk[]> {
    return sql<MovementToAsk[]>`
      select m.id, m.kind, m.payment_id as "paymentId", m.refund_id as "refundId", m.reference,
        exists (select from movements b where b.id = 'refund_returned:' || m.refund_id) as "hasReturned"
      from movements m
      where m.gateway = ${gateway} and m.day = ${day} and m.id > ${after}
        and m.kind in ('payment', 'refund', 'refund_returned', 'late_payment', 'late_reversal')
        and not exists (
          select from gateway_entries e
          where e.payment_id = m.payment_id and case m.kind
            when 'refund' then e.kind = 'refund' and e.refund_id = m.refund_id
            when 'refund_returned' then e.kind = 'refund_returned' and e.refund_id = m.refund_id
            when 'late_reversal' then e.kind = 'refund' and e.refund_id is null
            else e.kind = 'payment' end)
      order by m.id limit ${limit}`;
  },

  /** Records the answers as entries of the movements' day. */
  async recordAnswers(answers: readonly Answer[]): Promise<void> {
    if (answers.length === 0) return;
    await sql`
      insert into gateway_entries (gateway, id, asked, kind, day, at, amount, currency, fee, payment_id, refund_id)
      select m.gateway, m.id, true,
        case when a.result <> 'found' then a.result
          when m.kind in ('refund', 'late_reversal') then 'refund'
          when m.kind = 'refund_returned' then m.kind
          else 'payment' end,
        m.day, m.occurred_at, sign(m.amount) * coalesce(a.amount, abs(m.amount)), coalesce(a.currency, m.currency),
        case when m.kind = 'payment' and g.fees_reported and p.reported_fee_paid_by = 'merchant' then p.reported_fee end,
        m.payment_id, m.refund_id
      from jsonb_to_recordset(${sql.json(answers.map((answer) => ({ ...answer })))})
        as a (id text, result text, amount bigint, currency text)
      join movements m on m.id = a.id
      join gateways g on g.slug = m.gateway
      left join payments p on p.id = m.payment_id
      on conflict (gateway, id) do update set kind = excluded.kind, amount = excluded.amount,
        currency = excluded.currency, fee = excluded.fee`;
  },
});
export type GatewayEntries = ReturnType<typeof createGatewayEntries>;
