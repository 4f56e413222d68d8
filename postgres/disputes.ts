import { isDisputeOpen, type KnownDispute } from '../contract/dispute.ts';
import { disputeId } from '../contract/ids.ts';
import { dayMs } from '../contract/time.ts';
import { changesOne, type Queries, type Sql } from './driver/sql.ts';

/** A look at the disputes of a payment. */
export interface DisputeLook {
  /** Of the payment. */
  id: string;
  number: number;
}

/** After a look without an answer, or one that crashed. */
const retryMinutes = 10;

export const createDisputes = (sql: Sql) => ({
  /** Has the sweeper ask for the disputes of the payment. A look that is going on counts no more. */
  async requestLook(paymentId: string): Promise<void> {
    await sql`
      insert into dispute_looks (payment_id, due_at) values (${paymentId}, now())
      on conflict (payment_id) do update set number = dispute_looks.number + 1, due_at = excluded.due_at`;
  },

  /** Claims looks that are due. One that is not recorded is due again in 10 minutes. */
  async claimLooks(limit: number): Promise<DisputeLook[]> {
    return sql<DisputeLook[]>`
      update dispute_looks set due_at = now() + make_interval(mins => ${retryMinutes}) where payment_id = any(array(
        select payment_id from dispute_looks where due_at <= now()
        order by due_at limit ${limit} for update skip locked))
      returning payment_id as id, number`;
  },

  /**
   * Records all disputes of a payment, and what they hold of it. An open one is due again in a day.
   * @returns false if somebody has requested or recorded another look since this one began: nothing is written, because
   *   its answer may be older
   */
  async recordLook(look: DisputeLook, told: readonly KnownDispute[], now: Date): Promise<boolean> {
    return sql.begin(async (tx) => {
      // Everything that changes the sums of a payment locks it first.
      const [payment] = await tx<{ gateway: string }[]>`
        select gateway from payments where id = ${look.id} for update`;
      if (!payment) return false;
      const dueAt = told.some(isDisputeOpen) ? new Date(now.getTime() + dayMs) : null;
      const isLast = await changesOne(tx`
        update dispute_looks set number = number + 1, due_at = ${dueAt}
        where payment_id = ${look.id} and number = ${look.number}`);
      if (!isLast) return false;
      for (const dispute of told) await write(tx, { ...payment, ...look }, dispute, now);
      await tx`
        update payments p set amount_disputed = held.amount
        from (
          select coalesce(sum(case when d.currency = p.currency then d.amount else p.amount end), 0) as amount
          from disputes d join payments p on p.id = d.payment_id
          where d.payment_id = ${look.id} and d.stage = 'chargeback' and d.status not in ('won', 'closed')) held
        where p.id = ${look.id} and p.amount_disputed <> held.amount`;
      return true;
    });
  },
});
export type Disputes = ReturnType<typeof createDisputes>;

const write = async (
  tx: Queries,
  { id: paymentId, gateway }: { id: string; gateway: string },
  dispute: KnownDispute,
  now: Date,
): Promise<void> => {
  const { gatewayReference, stage, status, amount, currency, openedAt } = dispute;
  const { reason, networkReason, respondBy } = dispute;
  const closedAt = isDisputeOpen(dispute) ? null : now;
  await tx`
    insert into disputes as d (id, payment_id, gateway_reference, stage, status, amount, currency, reason, network_reason,
      respond_by, opened_at, closed_at, updated_at)
    values (${disputeId(gateway, gatewayReference)}, ${paymentId}, ${gatewayReference}, ${stage}, ${status}, ${amount},
      ${currency}, ${reason}, ${networkReason}, ${respondBy}, ${openedAt}, ${closedAt}, ${now})
    on conflict (id) do update set stage = excluded.stage, status = excluded.status, amount = excluded.amount,
      currency = excluded.currency, reason = excluded.reason, network_reason = excluded.network_reason,
      respond_by = excluded.respond_by, updated_at = excluded.updated_at,
      closed_at = case when d.status = excluded.status then d.closed_at else excluded.closed_at end
    where (d.stage, d.status, d.amount, d.currency, d.reason, d.network_reason, d.respond_by)
      is distinct from (excluded.stage, excluded.status, excluded.amount, excluded.currency, excluded.reason,
        excluded.network_reason, excluded.respond_by)`;
};
