import type { GatewayKind } from '../contract/gateway-account.ts';
import type { ListPosition } from '../contract/list.ts';
import type { RefundableFields } from '../contract/payment-fields.ts';
import { type Refund, type RefundStatus, storedRefundFields } from '../contract/refund.ts';
import type { SandboxRefundPlan } from '../contract/sandbox-refund-plan.ts';
import type { Fragment, Queries } from './driver/sql.ts';
import { columnName } from './payment-columns.ts';
import type { Owner } from './payments.ts';
import { insertPlannedRefund } from './sandbox-refunds.ts';

const columns = storedRefundFields.map(
  ({ property }) => `r.${columnName(property)} as "${property}"`,
);
/** The columns of `refunds r` for a select list, under the names that {@link Refund} has for them. */
export const selectRefund = (sql: Queries): Fragment => sql.unsafe(columns.join(', '));

/** A refund that was asked for. */
export interface NewRefund extends Omit<Refund, 'currency' | 'orderId'> {
  /** SHA-256 of the request; null for an admin's. */
  fingerprint: Buffer | null;
  /** The admin who asks, if another one must confirm it. */
  toConfirm?: string | null;
  /** What must be left of the payment; null: at least the amount. */
  refundableAmount: number | null;
  /** The gateway takes one refund of a payment at a time. */
  oneAtATime: boolean;
  /** What a test asks of the sandbox. */
  plan?: SandboxRefundPlan | undefined;
}

/** A payment for those who refund it. */
export interface RefundablePayment extends RefundableFields, Owner {
  driver: string;
  gatewayKind: GatewayKind;
  /** The account has the credentials that refunds need. */
  canRefund: boolean;
  currency: string;
  paidAt: Date | null;
}

export type StoredRefund = Refund & { fingerprint: Buffer | null };

export interface RefundQuery {
  paymentId?: string | undefined;
  orderId?: string | undefined;
  status?: RefundStatus | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  after: ListPosition | undefined;
  limit: number;
}

/** In minor units. */
export interface RefundLimit {
  perDay: number;
  /** Today, in UTC. */
  used: number;
}

const uniqueViolation = '23505';

/** Refunds for those who ask for them and read them. A refund's workflow changes them, see refund-outcomes.ts. */
export const createRefunds = (sql: Queries) => ({
  /**
   * Reserves the amount and writes the refund, in one statement. Concurrent refunds wait for the row of the payment, so
   * together they never reserve more than was paid.
   * @returns `exists` if there is a refund of this id; `over_limit` if the application has used its day up; undefined
   *   if the payment has not so much left. Then nothing is written
   */
  async insert(refund: NewRefund): Promise<Refund | 'exists' | 'over_limit' | undefined> {
    const left = sql`(p.amount - p.amount_refunded - p.amount_refund_pending)`;
    const today = sql`(now() at time zone 'utc')::date`;
    const { amount, refundableAmount, createdAt, toConfirm = null } = refund;
    const rows = sql<Refund[]>`
      with p as (
        update payments p set amount_refund_pending = p.amount_refund_pending + ${amount}
        where p.id = ${refund.paymentId} and p.status = 'paid'
          and p.application = ${refund.application} and p.test = ${refund.test} and ${amount} <= ${left}
          ${refundableAmount === null ? sql`` : sql`and ${left} = ${refundableAmount}`}
          ${refund.oneAtATime ? sql`and p.amount_refund_pending = 0` : sql``}
        returning p.*
      ), r as (
        insert into refunds (id, payment_id, application, test, order_id, status, stage, amount, currency, method,
          requested_by, reason, reference, metadata, fingerprint, to_confirm, created_at, updated_at, due_at)
        select ${refund.id}, p.id, p.application, p.test, p.order_id, ${refund.status}, ${refund.stage}, ${amount},
          p.currency, ${refund.method}, ${refund.requestedBy}, ${refund.reason}, ${refund.reference},
          ${refund.metadata}, ${refund.fingerprint}::bytea, ${toConfirm}::text, ${createdAt}::timestamptz,
          ${createdAt}::timestamptz, case when ${toConfirm}::text is null then now() end
        from p returning *
      ), used as (
        update refund_limits l set day = ${today}, used = ${amount} + case when l.day = ${today} then l.used else 0 end
        from r
        where l.application = r.application and l.test = r.test and l.currency = r.currency
          and r.requested_by = 'application'
      ) ${
        refund.plan
          ? sql`, refund as (select id, payment_id, amount from r),
          planned as (${insertPlannedRefund(sql, refund.plan)})`
          : sql``
      }
      select ${selectRefund(sql)} from r`;
    return rows.then(
      ([row]) => row,
      (error: unknown) => {
        if (error instanceof Error && 'code' in error) {
          if (error.code === uniqueViolation) return 'exists';
          const isOver =
            'constraint_name' in error && error.constraint_name === 'refund_limits__used';
          if (isOver) return 'over_limit';
        }
        throw error;
      },
    );
  },

  async getLimit({ application, test }: Owner, currency: string): Promise<RefundLimit | undefined> {
    const [row] = await sql<RefundLimit[]>`
      select per_day as "perDay", case when day = (now() at time zone 'utc')::date then used else 0 end as used
      from refund_limits
      where application = ${application} and test = ${test} and currency = ${currency}`;
    return row;
  },

  /** @param owner undefined: of every application */
  async getPayment(id: string, owner?: Owner): Promise<RefundablePayment | undefined> {
    const [row] = await sql<RefundablePayment[]>`
      select p.application, p.test, g.driver, g.kind as "gatewayKind", g.can_refund as "canRefund", p.status, p.currency, p.paid_at as "paidAt", p.amount,
        p.amount_refunded as "amountRefunded", p.amount_refund_pending as "amountRefundPending",
        p.refundable_until as "refundableUntil"
      from payments p join gateways g on g.slug = p.gateway
      where p.id = ${id}
        ${owner ? sql`and p.application = ${owner.application} and p.test = ${owner.test}` : sql``}`;
    return row;
  },

  /** @returns undefined if the refund does not exist or has another owner */
  async get(id: string, { application, test }: Owner): Promise<StoredRefund | undefined> {
    const [row] = await sql<StoredRefund[]>`
      select ${selectRefund(sql)}, r.fingerprint from refunds r
      where r.id = ${id} and r.application = ${application} and r.test = ${test}`;
    return row;
  },

  /** Newest first. The query has only the conditions that are given, so that each list finds its index. */
  async list({ application, test }: Owner, query: RefundQuery): Promise<Refund[]> {
    const { paymentId, orderId, status, from, to, after, limit } = query;
    return sql<Refund[]>`
      select ${selectRefund(sql)} from refunds r
      where r.application = ${application} and r.test = ${test}
        ${paymentId === undefined ? sql`` : sql`and r.payment_id = ${paymentId}`}
        ${orderId === undefined ? sql`` : sql`and r.order_id = ${orderId}`}
        ${status === undefined ? sql`` : sql`and r.status = ${status}`}
        ${from === undefined ? sql`` : sql`and r.created_at >= ${from}`}
        ${to === undefined ? sql`` : sql`and r.created_at < ${to}`}
        ${after === undefined ? sql`` : sql`and (r.created_at, r.id) < (${after.at}, ${after.id})`}
      order by r.created_at desc, r.id desc limit ${limit}`;
  },

  /**
   * Has the refund never told to the gateway, unless it was told already. Its workflow ends it.
   * @returns false if the gateway was told, or the refund has ended otherwise
   */
  async requestCancel(id: string): Promise<boolean> {
    const { count } = await sql`
      update refunds set cancel_requested = true, due_at = case when status = 'pending' then now() end
      where id = ${id} and requested_by = 'application'
        and (status = 'pending' and told = 0 or failure_code = 'cancelled')`;
    return count === 1;
  },
});
export type Refunds = ReturnType<typeof createRefunds>;
