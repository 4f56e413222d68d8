import type { ListPosition } from '../contract/list.ts';
import type { Refund, RefundStage, RefundStatus } from '../contract/refund.ts';
import type { Queries } from './driver/sql.ts';
import type { RefundEnd } from './refund-outcomes.ts';
import { selectRefund } from './refunds.ts';

/** Null: any. */
export interface RefundFilter {
  application: string | null;
  paymentId: string | null;
  test?: boolean | null;
  status: RefundStatus | null;
  stage: RefundStage | null;
  /** Only those that wait for a second admin. */
  toConfirm?: boolean;
  /** Only older ones. */
  after?: ListPosition | null;
}

/** A refund with what only admins see. */
export interface RefundRecord extends Refund {
  told: number;
  toldAt: Date | null;
  gatewayReference: string | null;
  gatewayCode: string | null;
  gatewayMessage: string | null;
  /** The admin who asked for it, while another one must confirm it. */
  toConfirm: string | null;
}

const columns = (sql: Queries) => sql`
  ${selectRefund(sql)}, r.told, r.told_at as "toldAt", r.gateway_reference as "gatewayReference",
  r.gateway_code as "gatewayCode", r.gateway_message as "gatewayMessage", r.to_confirm as "toConfirm"`;

/** The condition for refunds `r` that wait for a second admin. */
export const isToConfirm = (sql: Queries) =>
  sql`r.status = 'pending' and r.to_confirm is not null and not r.cancel_requested`;

export const createAdminRefunds = (sql: Queries) => ({
  /** The newest first, those of every application. */
  async find(filter: RefundFilter, limit: number): Promise<RefundRecord[]> {
    const { application, paymentId, status, stage } = filter;
    const { test = null, toConfirm = false, after = null } = filter;
    return sql<RefundRecord[]>`
      select ${columns(sql)} from refunds r
      where true
        ${application === null ? sql`` : sql`and r.application = ${application}`}
        ${paymentId === null ? sql`` : sql`and r.payment_id = ${paymentId}`}
        ${test === null ? sql`` : sql`and r.test = ${test}`}
        ${status === null ? sql`` : sql`and r.status = ${status}`}
        ${stage === null ? sql`` : sql`and r.stage = ${stage}`}
        ${toConfirm ? sql`and ${isToConfirm(sql)}` : sql``}
        ${after === null ? sql`` : sql`and (r.created_at, r.id) < (${after.at}, ${after.id})`}
      order by r.created_at desc, r.id desc limit ${limit}`;
  },

  async get(id: string): Promise<RefundRecord | undefined> {
    const [row] = await sql<RefundRecord[]>`
      select ${columns(sql)} from refunds r where r.id = ${id}`;
    return row;
  },

  /** @returns false if it needs no confirmation, or was asked for by this admin */
  async confirm(id: string, actor: string): Promise<boolean> {
    const { count } = await sql`
      update refunds set to_confirm = null, due_at = now()
      where id = ${id} and status = 'pending' and to_confirm <> ${actor} and not cancel_requested`;
    return count === 1;
  },

  /**
   * Calls a refund off that waits for a second admin. Its workflow ends it.
   * @returns undefined if it does not wait for one
   */
  async refuse(id: string): Promise<RefundRecord | undefined> {
    const [row] = await sql<RefundRecord[]>`
      update refunds r set cancel_requested = true, due_at = now()
      where r.id = ${id} and r.status = 'pending' and r.to_confirm is not null and r.told = 0
      returning ${columns(sql)}`;
    return row;
  },

  /** Above which amount another admin must confirm a refund, in minor units; undefined: none. */
  async approvalAbove(currency: string): Promise<number | undefined> {
    const [row] = await sql<{ above: number }[]>`
      select above from refund_approvals where currency = ${currency}`;
    return row?.above;
  },

  async setApprovalAbove(currency: string, above: number | null): Promise<void> {
    if (above === null) await sql`delete from refund_approvals where currency = ${currency}`;
    else
      await sql`
        insert into refund_approvals (currency, above) values (${currency}, ${above})
        on conflict (currency) do update set above = excluded.above`;
  },

  /** What an application may refund in a day, in each mode. Null: without a limit. */
  async setLimit(application: string, currency: string, perDay: number | null): Promise<void> {
    if (perDay === null)
      await sql`
        delete from refund_limits where application = ${application} and currency = ${currency}`;
    else
      await sql`
        insert into refund_limits (application, test, currency, per_day, day)
        select ${application}, test, ${currency}, ${perDay}, current_date from unnest('{true,false}'::boolean[]) test
        on conflict (application, test, currency) do update
          set per_day = excluded.per_day, used = least(refund_limits.used, excluded.per_day)`;
  },

  /** The limit of live refunds in minor units; null: none. */
  async getLimit(application: string, currency: string): Promise<number | null> {
    const [row] = await sql<{ perDay: number }[]>`
      select per_day as "perDay" from refund_limits
      where application = ${application} and currency = ${currency} and not test`;
    return row?.perDay ?? null;
  },

  /**
   * Records an admin's decision about a refund that is by hand. Its workflow ends it.
   * @returns undefined if it is not by hand, or somebody has decided
   */
  async settle(id: string, as: RefundEnd['status']): Promise<RefundRecord | undefined> {
    const [row] = await sql<RefundRecord[]>`
      update refunds r set settled_as = ${as}, due_at = now()
      where r.id = ${id} and r.stage = 'by_hand' and r.settled_as is null
      returning ${columns(sql)}`;
    return row;
  },
});
