import type { GatewayKind } from '../../contract/gateway-account.ts';
import type { ListPage } from '../../contract/list.ts';
import type { RefundBasis } from '../../contract/payment-fields.ts';
import { type Refund, storedRefundFields } from '../../contract/refund.ts';
import type { SandboxRefundPlan } from '../../contract/sandbox-refund-plan.ts';
import type { Person } from '../audit-log.ts';
import { changesOne, first, type Fragment, type Queries } from '../driver/sql.ts';
import { columnName } from '../payment-columns.ts';
import type { Owner } from '../payments/payments.ts';
import { matchingRefunds, type RefundFilter } from './filter.ts';
import { insertPlannedRefund } from '../sandbox/refunds.ts';

const columns = storedRefundFields.map(
  ({ property }) => `r.${columnName(property)} as "${property}"`,
);
/** The columns of `refunds r` for a select list, under the names that {@link Refund} has for them. */
export const selectRefund = (sql: Queries): Fragment => sql.unsafe(columns.join(', '));

/** A refund that was asked for. */
export interface NewRefund extends Pick<
  Refund,
  | 'id'
  | 'paymentId'
  | 'application'
  | 'test'
  | 'amount'
  | 'method'
  | 'requestedBy'
  | 'reason'
  | 'reference'
  | 'metadata'
  | 'createdAt'
> {
  /** SHA-256 of the request; null for an admin's. */
  fingerprint: Buffer | null;
  /** The id of the token that asks. */
  token?: string;
  /** The trace of its request. */
  traceparent?: string | null;
  /** The admin who asks. */
  askedBy?: Person;
  /** What must be left of the payment; null: at least the amount. */
  onlyIfLeft: number | null;
  /** The gateway takes one refund of a payment at a time. */
  oneAtATime: boolean;
  /** The plan of a test for the sandbox. */
  plan?: SandboxRefundPlan | undefined;
}

/** A payment for those who refund it. */
export interface RefundablePayment extends RefundBasis, Owner {
  gatewayKind: GatewayKind;
}

export type StoredRefund = Refund & { fingerprint: Buffer | null };

/** In minor units. */
export interface RefundLimit {
  perDay: number;
  /** Today, in UTC. */
  used: number;
}

const uniqueViolation = '23505';
/** What refuses a refund in `reserve_refund`, see migrations/0001_schema.sql. */
const limitConstraints = new Set<unknown>(['refund_limits__used', 'refund_limits__currency']);

/** Refunds for those who ask for them and read them. A refund's workflow changes them, see outcomes.ts. */
export const createRefunds = (sql: Queries) => ({
  /**
   * Writes the refund, and a trigger reserves the amount, in one statement. Concurrent refunds wait for the row of the
   * payment, so together they never reserve more than was paid. The trigger also counts what an application refunds in a
   * day, and says whether another admin must confirm the refund of an admin.
   * @returns `exists` if there is a refund of this id; `over_limit` if the application may not refund so much today;
   *   undefined if the payment has not so much left. Then nothing is written
   */
  async insert(refund: NewRefund): Promise<Refund | 'exists' | 'over_limit' | undefined> {
    const left = sql`(p.amount - p.amount_refunded - p.amount_refund_pending - p.amount_disputed)`;
    const { amount, onlyIfLeft, createdAt, token = null, askedBy } = refund;
    const { traceparent = null } = refund;
    // A login has the rights to these columns only for refunds of its own kind.
    const asks = askedBy
      ? { columns: sql`asked_by, asked_via`, values: sql`${askedBy.actor}, ${askedBy.via}` }
      : {
          columns: sql`token, traceparent`,
          values: sql`${token}::text, ${traceparent}::text`,
        };
    const rows = sql<Refund[]>`
      with p as (
        select * from payment_to_refund(${refund.paymentId}) p
        where p.status = 'paid'
          and p.application = ${refund.application} and p.test = ${refund.test} and ${amount} <= ${left}
          ${onlyIfLeft === null ? sql`` : sql`and ${left} = ${onlyIfLeft}`}
          ${refund.oneAtATime ? sql`and p.amount_refund_pending = 0` : sql``}
      ), r as (
        insert into refunds (id, payment_id, application, test, order_id, status, stage, amount, currency, method,
          requested_by, reason, reference, metadata, fingerprint, ${asks.columns}, created_at, updated_at)
        select ${refund.id}, p.id, p.application, p.test, p.order_id, 'pending', 'reserved', ${amount},
          p.currency, ${refund.method}, ${refund.requestedBy}, ${refund.reason}, ${refund.reference},
          ${refund.metadata}, ${refund.fingerprint}::bytea, ${asks.values}, ${createdAt}::timestamptz,
          ${createdAt}::timestamptz
        from p returning *
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
          if ('constraint_name' in error && limitConstraints.has(error.constraint_name))
            return 'over_limit';
        }
        throw error;
      },
    );
  },

  getLimit: ({ application, test }: Owner, currency: string) =>
    first(sql<RefundLimit[]>`
      select per_day as "perDay", case when day < (now() at time zone 'utc')::date then 0 else used end as used
      from refund_limits
      where application = ${application} and test = ${test} and currency = ${currency}`),

  /** @param owner undefined: of every application */
  getPayment: (id: string, owner?: Owner) =>
    first(sql<RefundablePayment[]>`
      select p.application, p.test, g.driver, g.kind as "gatewayKind",
        g.has_refund_credentials as "hasRefundCredentials", p.status, p.currency, p.paid_at as "paidAt", p.amount,
        p.amount_refunded as "amountRefunded", p.amount_refund_pending as "amountRefundPending",
        p.amount_disputed as "amountDisputed"
      from payments p join gateways g on g.slug = p.gateway
      where p.id = ${id}
        ${owner ? sql`and p.application = ${owner.application} and p.test = ${owner.test}` : sql``}`),

  /** The payment of a refund of any owner. */
  async getPaymentId(id: string): Promise<string | undefined> {
    const [row] = await sql<{ paymentId: string }[]>`
      select payment_id as "paymentId" from refunds where id = ${id}`;
    return row?.paymentId;
  },

  /** The last refunds of a payment that the gateway was told of, and that it may end or send back. */
  async listToRecheck(paymentId: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from refunds
      where payment_id = ${paymentId} and told_at is not null
        and (status = 'pending' or succeeded_at > now() - interval '30 days')
      order by created_at desc, id desc limit 20`;
    return rows.map(({ id }) => id);
  },

  /** @returns undefined if the refund does not exist or has another owner */
  get: (id: string, { application, test }: Owner) =>
    first(sql<StoredRefund[]>`
      select ${selectRefund(sql)}, r.fingerprint from refunds r
      where r.id = ${id} and r.application = ${application} and r.test = ${test}`),

  /** Newest first. */
  async list(filter: RefundFilter & Owner, page: ListPage): Promise<Refund[]> {
    return sql<Refund[]>`select ${selectRefund(sql)} ${matchingRefunds(sql, filter, page)}`;
  },

  /**
   * Has the refund never told to the gateway, unless it was told already. Its workflow ends it.
   * @returns false if the gateway was told, a person must decide, or the refund has ended otherwise
   */
  requestCancel: (id: string) =>
    changesOne(sql`
      update refunds set cancel_requested = true, due_at = case when status = 'pending' then now() end
      where id = ${id} and requested_by = 'application'
        and (stage = 'reserved' or failure_code = 'cancelled')`),
});
export type Refunds = ReturnType<typeof createRefunds>;
