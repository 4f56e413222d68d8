import type { ListPage } from '../../contract/list.ts';
import type { Refund } from '../../contract/refund.ts';
import { first, type Queries } from '../driver/sql.ts';
import { matchingRefunds, type RefundFilter } from '../refunds/filter.ts';
import { waitsForApplication, type RefundEnd } from '../refunds/outcomes.ts';
import { selectRefund } from '../refunds/refunds.ts';

/** A refund with what only admins see. */
export interface RefundRecord extends Refund {
  timesTold: number;
  toldAt: Date | null;
  gatewayReference: string | null;
  gatewayCode: string | null;
  gatewayMessage: string | null;
  /** The id of the token that asked for it. */
  token: string | null;
  /** The admin who asked for it. */
  askedBy: string | null;
  /** Another admin must confirm it: until then the gateway is not told. */
  toConfirm: boolean;
  /** Why another admin must confirm it, or had to; null: none had to. */
  overRule: OverRule | null;
  /** Its application is disabled: until an admin enables or releases it, the gateway is not told. */
  waitsForApplication: boolean;
  cancelRequested: boolean;
}

/** The sum for which another admin must confirm a refund, and the amount of the rule. In minor units. */
export interface OverRule {
  /** The refund, all that admins have asked for of the payment, or all that this admin has within 24 hours. */
  counted: 'refund' | 'payment' | 'admin';
  total: number;
  above: number;
}

/** Refunds of one application that no gateway was told of. Of each currency. */
export interface ReservedRefunds {
  currency: string;
  refunds: number;
  amount: number;
}

/** Of refunds `r`. */
const columns = (sql: Queries) => sql`
  ${selectRefund(sql)}, r.times_told as "timesTold", r.told_at as "toldAt", r.gateway_reference as "gatewayReference",
  r.gateway_code as "gatewayCode", r.gateway_message as "gatewayMessage", r.token, r.asked_by as "askedBy",
  case when r.confirmed_for is not null then jsonb_build_object(
    'counted', r.confirmed_for, 'total', r.confirmed_sum, 'above', r.confirmed_above) end as "overRule",
  r.to_confirm as "toConfirm", r.cancel_requested as "cancelRequested", ${waitsForApplication(sql)} as "waitsForApplication"`;

export const createAdminRefunds = (sql: Queries) => ({
  /** The newest first, those of every application. */
  async list(filter: RefundFilter, page: ListPage): Promise<RefundRecord[]> {
    return sql<RefundRecord[]>`select ${columns(sql)} ${matchingRefunds(sql, filter, page)}`;
  },

  get: (id: string) =>
    first(sql<RefundRecord[]>`
      select ${columns(sql)} from refunds r where r.id = ${id}`),

  /**
   * Calls a refund off that the gateway was not told of, whoever asked for it. Its workflow ends it.
   * @param of `to_confirm`: only one that waits for a second admin
   * @returns undefined if it is none
   */
  cancel: (id: string, of: 'any' | 'to_confirm') =>
    first(sql<RefundRecord[]>`
      update refunds r set cancel_requested = true, due_at = now()
      where r.id = ${id} and r.stage = 'reserved' and (r.to_confirm or ${of === 'any'})
      returning ${columns(sql)}`),

  /** Calls off what no gateway was told of for the application. The sweeper has the workflows end them. */
  async cancelOf(application: string, limit: number): Promise<RefundRecord[]> {
    return sql<RefundRecord[]>`
      update refunds r set cancel_requested = true, due_at = now()
      where r.id = any(array(
        select id from refunds
        where application = ${application} and stage = 'reserved' and not cancel_requested
        order by id limit ${limit} for no key update))
        and r.stage = 'reserved'
      returning ${columns(sql)}`;
  },

  /**
   * What no gateway was told of for the application, and nobody has called off.
   * @param by `application`: only what it has asked for itself
   */
  async sumReserved(application: string, by: 'any' | 'application'): Promise<ReservedRefunds[]> {
    return sql<ReservedRefunds[]>`
      select currency, count(*)::int as refunds, sum(amount)::bigint as amount from refunds
      where application = ${application} and stage = 'reserved' and not cancel_requested
        and (requested_by = 'application' or ${by === 'any'})
      group by currency order by currency`;
  },

  /** Has the sweeper go on with those that waited because the application was disabled. */
  async resume(application: string): Promise<void> {
    await sql`
      update refunds set due_at = now()
      where id = any(array(
        select id from refunds
        where application = ${application} and due_at > now()
          and stage in ('reserved', 'sent', 'waiting_for_balance')
        order by id for no key update))`;
  },

  /** Has one go on whose application is disabled. @returns undefined if it does not wait for that */
  release: (id: string) =>
    first(sql<RefundRecord[]>`
      update refunds r set released = true, due_at = now()
      where r.id = ${id} and not r.cancel_requested and ${waitsForApplication(sql)}
      returning ${columns(sql)}`),

  /**
   * Why another admin would have to confirm a refund that the admin asks for now; undefined: none has to.
   * @param earlier what the admin asks for before it, of other payments in the same currency and mode
   */
  overRule: (paymentId: string, amount: number, asker: string, earlier = 0) =>
    first(sql<OverRule[]>`
      select o.* from payments p cross join lateral
        refund_to_confirm(p.id, p.currency, ${amount}, ${asker}, p.test, now(), ${earlier}) as o
      where p.id = ${paymentId}`),

  /** The refunds that an application may make in a day, in each mode. Null: without a limit. */
  async setLimit(application: string, currency: string, perDay: number | null): Promise<void> {
    if (perDay === null)
      await sql`
        delete from refund_limits where application = ${application} and currency = ${currency}`;
    else
      await sql`
        insert into refund_limits (application, test, currency, per_day, day)
        select ${application}, test, ${currency}, ${perDay}, (now() at time zone 'utc')::date from unnest('{true,false}'::boolean[]) test
        on conflict (application, test, currency) do update
          set per_day = excluded.per_day, used = least(refund_limits.used, excluded.per_day)`;
  },

  /** The limits of live refunds in minor units. */
  async listLimits(application: string): Promise<{ currency: string; perDay: number }[]> {
    return sql<{ currency: string; perDay: number }[]>`
      select currency, per_day as "perDay" from refund_limits
      where application = ${application} and not test order by currency`;
  },

  /**
   * Records an admin's decision about a refund that is by hand. Its workflow ends it.
   * @returns undefined if it is not by hand, or somebody has decided
   */
  settle: (id: string, as: RefundEnd['status']) =>
    first(sql<RefundRecord[]>`
      update refunds r set settled_as = ${as}, due_at = now()
      where r.id = ${id} and r.stage = 'by_hand' and r.settled_as is null
      returning ${columns(sql)}`),
});
