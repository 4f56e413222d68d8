import { createDisputeEvent, disputeEventKind } from '../../contract/dispute-event.ts';
import {
  type Dispute,
  holdingStatuses,
  isDisputeOpen,
  type KnownDispute,
} from '../../contract/dispute.ts';
import { disputeId } from '../../contract/ids.ts';
import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListDisputes } from '../../contract/list-disputes.ts';
import type { Payment } from '../../contract/payment.ts';
import { dayMs } from '../../contract/time.ts';
import { changesOne, first, type Queries, type Sql } from '../driver/sql.ts';
import { eventInserts } from '../event-inserts.ts';
import { conditionsOf, rangeOf } from '../list.ts';
import { claimKept } from '../orders.ts';
import { selectPayment } from '../payment-columns.ts';
import type { Owner } from './payments.ts';

/** A look at the disputes of a payment. */
export interface DisputeLook {
  paymentId: string;
  number: number;
}

type DisputedPayment = Owner & Pick<Payment, 'id' | 'orderId' | 'gateway'>;

/** After a look without an answer, or one that crashed. */
const retryMinutes = 10;

/** The columns of a dispute `d`. */
export const selectDispute = (sql: Queries) => sql`
  d.id, d.payment_id as "paymentId", d.application, d.order_id as "orderId", d.gateway, d.test,
  d.gateway_reference as "gatewayReference", d.stage, d.status, d.amount, d.currency, d.reason,
  d.network_reason as "networkReason", d.respond_by as "respondBy", d.opened_at as "openedAt",
  d.closed_at as "closedAt", d.updated_at as "updatedAt"`;

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
      returning payment_id as "paymentId", number`;
  },

  /**
   * Records all disputes of a payment, what they hold of it, and the events that tell of the changes. An open dispute is
   * due again in a day.
   * @returns the ids of the events; undefined if somebody has requested or recorded another look since this one began:
   *   nothing is written, because its answer may be older
   */
  async recordLook(
    look: DisputeLook,
    reported: readonly KnownDispute[],
    now: Date,
  ): Promise<string[] | undefined> {
    return sql.begin(async (tx) => {
      // Everything that changes the sums of a payment locks it first.
      const [payment] = await tx<DisputedPayment[]>`
        select id, application, test, order_id as "orderId", gateway from payments
        where id = ${look.paymentId} for update`;
      if (!payment) return undefined;
      const dueAt = nextLook(reported, now);
      const isLast = await changesOne(tx`
        update dispute_looks set number = number + 1, due_at = ${dueAt}
        where payment_id = ${look.paymentId} and number = ${look.number}`);
      if (!isLast) return undefined;
      const changes: Change[] = [];
      for (const dispute of reported) changes.push(...(await write(tx, payment, dispute, now)));
      await tx`
        update payments p set amount_disputed = held.amount, amount_lost = held.lost,
          -- A chargeback that is won after all claims nothing.
          order_claimed_at = ${claimKept(tx, { lost: tx`held.lost` })}
        from (
          select coalesce(sum(h.amount), 0) as amount, coalesce(sum(h.amount) filter (where h.status = 'lost'), 0) as lost
          from (
            select d.status, case when d.currency = p.currency then d.amount else p.amount end as amount
            from disputes d join payments p on p.id = d.payment_id
            where d.payment_id = ${look.paymentId} and d.stage = 'chargeback'
              and d.status = any(${[...holdingStatuses]}::text[])) h) held
        where p.id = ${look.paymentId} and (p.amount_disputed, p.amount_lost) <> (held.amount, held.lost)`;
      return changes.length === 0 ? [] : announce(tx, look.paymentId, changes, now);
    });
  },

  /** @returns undefined if the dispute does not exist or has another owner */
  get: (id: string, { application, test }: Owner) =>
    first(sql<Dispute[]>`
      select ${selectDispute(sql)} from disputes d
      where d.id = ${id} and d.application = ${application} and d.test = ${test}`),

  /** Those of an application, the newest first. */
  async list(
    { from, to, ...filter }: Owner & Filters<ListDisputes>,
    { after, limit }: ListPage,
  ): Promise<Dispute[]> {
    return sql<Dispute[]>`
      select ${selectDispute(sql)} from disputes d
      where true ${conditionsOf(sql, filter, {
        application: (application) => sql`d.application = ${application}`,
        test: (test) => sql`d.test = ${test}`,
        paymentId: (id) => sql`d.payment_id = ${id}`,
        stage: (stage) => sql`d.stage = ${stage}`,
        status: (status) => sql`d.status = ${status}`,
      })} ${rangeOf(sql, { from, to }, after, { at: sql`d.opened_at`, id: sql`d.id` })}
      order by d.opened_at desc, d.id desc limit ${limit}`;
  },
});
export type Disputes = ReturnType<typeof createDisputes>;

/** A day later while one is open, and sooner if the gateway knows when it changes. Null: never by itself. */
const nextLook = (reported: readonly KnownDispute[], now: Date): Date | null => {
  const times = reported
    .filter(isDisputeOpen)
    .map(({ changesAt }) => changesAt ?? new Date(now.getTime() + dayMs));
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null;
};

/** A dispute that has changed, and what was known of it before. */
interface Change {
  dispute: Dispute & { changes: number };
  was: KnownDispute | undefined;
}

const write = async (
  tx: Queries,
  { id: paymentId, application, test, orderId, gateway }: DisputedPayment,
  dispute: KnownDispute,
  now: Date,
): Promise<Change[]> => {
  const { gatewayReference, stage, status, currency, openedAt } = dispute;
  // At least what it takes: a fraction of our minor unit cannot be recorded.
  const amount = Math.ceil(dispute.amount);
  const { reason, networkReason, respondBy } = dispute;
  const id = disputeId(gateway, gatewayReference);
  const closedAt = isDisputeOpen(dispute) ? null : now;
  const [was] = await tx<Dispute[]>`select ${selectDispute(tx)} from disputes d where d.id = ${id}`;
  const changed = await tx<Change['dispute'][]>`
    insert into disputes as d (id, payment_id, application, test, order_id, gateway, gateway_reference, stage, status,
      amount, currency, reason, network_reason, respond_by, opened_at, closed_at, updated_at)
    values (${id}, ${paymentId}, ${application}, ${test}, ${orderId}, ${gateway},
      ${gatewayReference}, ${stage}, ${status}, ${amount}, ${currency}, ${reason}, ${networkReason}, ${respondBy},
      ${openedAt}, ${closedAt}, ${now})
    on conflict (id) do update set stage = excluded.stage, status = excluded.status, amount = excluded.amount,
      currency = excluded.currency, reason = excluded.reason, network_reason = excluded.network_reason,
      respond_by = excluded.respond_by, changes = d.changes + 1, updated_at = excluded.updated_at,
      closed_at = case when d.status = excluded.status then d.closed_at else excluded.closed_at end
    where (d.stage, d.status, d.amount, d.currency, d.reason, d.network_reason, d.respond_by)
      is distinct from (excluded.stage, excluded.status, excluded.amount, excluded.currency, excluded.reason,
        excluded.network_reason, excluded.respond_by)
    returning ${selectDispute(tx)}, d.changes`;
  return changed.map((written) => ({ dispute: written, was }));
};

/** Writes the events of the changes. The payment is locked, and has the sum that its disputes hold. */
const announce = async (
  tx: Queries,
  paymentId: string,
  changes: readonly Change[],
  now: Date,
): Promise<string[]> => {
  const [payment] = await tx<Payment[]>`
    select ${selectPayment(tx)} from payments p join applications a on a.slug = p.application
    where p.id = ${paymentId} and a.dispute_events`;
  if (!payment) return [];
  const ids: string[] = [];
  for (const { dispute, was } of changes) {
    const kind = disputeEventKind(was, dispute);
    if (!kind) continue;
    const { changes: sequence } = dispute;
    const event = createDisputeEvent(kind, { dispute, sequence, payment, createdAt: now });
    await tx`
      with of_payment as (
        select id, application, test, order_id from payments where id = ${paymentId}
      ), ${eventInserts(tx, event, dispute.id)} select`;
    ids.push(event.id);
  }
  return ids;
};
