import { limits } from '../../contract/limits.ts';
import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListPayments } from '../../contract/list-payments.ts';
import type { Payment, Redirect, WorkflowStart } from '../../contract/payment.ts';
import { workflowStartFields } from '../../contract/payment.ts';
import type { RefundBasis } from '../../contract/payment-fields.ts';
import { type PaidTo, selectPaidTo } from '../applications/applications.ts';
import { first, type Queries } from '../driver/sql.ts';
import { conditionsOf, limitTo, rangeOf } from '../list.ts';
import { insertColumns, insertValues, selectPayment, selectTraceId } from '../payment-columns.ts';
import { isPaidByAnother, selectPaidOfOrder } from '../orders.ts';
import { insertPayer } from './payers.ts';
import { insertPlanned } from '../sandbox/payments.ts';

/** Stored with a create: a repeated create with the same key gets the same response. */
export interface IdempotencyRecord {
  route: string;
  key: string;
  /** A keyed hash of the request. */
  fingerprint: Buffer;
  status: number;
  location: string;
  body: string;
  /** An interval, e.g. `25 hours`. The clock of Postgres decides, which also ends it. */
  keptFor: string;
}

export interface InsertOptions {
  traceparent?: string | null;
  plan?: Parameters<typeof insertPlanned>[2] | undefined;
  isPaidOnce?: boolean;
  /** The gateways that may open it, if there are several. */
  candidates?: readonly string[] | null;
  /** The sealed data of the payer. */
  payer?: string | null;
  payerLocale?: string | null;
}

/** False: the key is taken, or another payment has paid the order, whose id this is. Then nothing is written. */
export interface Inserted {
  isInserted: boolean;
  paidBy: string | null;
}

export interface StoredPayment extends Payment {
  /** The payment has a reference: it was opened at its gateway. */
  opened: boolean;
  /** The payer was sent to the gateway. */
  payerSent: boolean;
  /**
   * The number of the 3 seconds in which it was read, by the clock of Postgres. Equal verifications of one
   * window share a result, through whichever process they come.
   */
  verifyWindow: number;
}

/** A payment for its application, with what its refunds depend on: the account that took it. */
export type OwnPayment = Payment & RefundBasis;

/** The part of a payment that a message to its workflow needs. */
export type PaymentRef = WorkflowStart & Pick<StoredPayment, 'status' | 'payerSent'>;

/** A payment with the last part of the address for reports about it; null: it has none. */
export type ReportedPayment = PaymentRef &
  Pick<StoredPayment, 'opened'> & { reportKey: string | null };

/** A payment for the payer's pages. */
export interface PayerPayment extends StoredPayment, PaidTo {
  driver: string;
  /** The gateway's reference; null until the payment is opened there. */
  reference: string | null;
  /** Its workflow has not been started for a second, which the API process that created it did not manage. */
  isUnstarted: boolean;
  /** The language that the application knows of the payer. */
  payerLocale: string | null;
  /** The trace id of the create request, if it had one; only while the payment is in the outbox. */
  traceId: string | null;
}

/** For the page that says what became of a payment, and of money that came after its end. */
export interface PayerOutcome extends PayerPayment {
  moneyFoundAt: Date | null;
  isInDoubt: boolean;
  isOrderPaid: boolean;
}

/** The redirect is null if the payer must not go to the gateway now. */
export type CheckoutPayment = PayerPayment & { redirect: Redirect | null };

/** A caller sees the payments of its application that have the mode of its token. */
export interface Owner {
  application: string;
  test: boolean;
}

/** Columns of a payment `p`. */
const progress = (sql: Queries) =>
  sql`p.gateway_reference is not null as opened, p.checkout_at is not null as "payerSent",
    floor(extract(epoch from now()) / ${limits.verifyReuseSeconds}::int)::bigint as "verifyWindow"`;

/** The columns of {@link OwnPayment}, of `p` and `g`. */
const ownColumns = (sql: Queries) =>
  sql`${selectPayment(sql)}, g.driver, g.has_refund_credentials as "hasRefundCredentials"`;

const selectRef = (sql: Queries) => sql`
  select ${selectPayment(sql, workflowStartFields)}, p.status, p.checkout_at is not null as "payerSent"
  from payments p`;

/** Of what {@link fromPayers} joins: the payment `p`, its gateway `g`, its application `a` and its outbox row `o`. */
const payerColumns = (sql: Queries) => sql`
  ${selectPayment(sql)}, g.driver, p.gateway_reference as reference, ${progress(sql)},
  coalesce(o.created_at < now() - interval '1 second', false) as "isUnstarted", ${selectTraceId(sql)},
  p.payer_locale as "payerLocale", ${selectPaidTo(sql)}`;
const fromPayers = (sql: Queries) => sql`
  from payments p join gateways g on g.slug = p.gateway join applications a on a.slug = p.application
  left join workflow_outbox o on o.payment_id = p.id`;

/**
 * The time until which keys are kept: that of Postgres, or of this process if it is behind. A clock that runs ahead would
 * forget keys, and a repeated create would make a second payment.
 */
export const keptUntil = (sql: Queries) => sql`least(now(), ${new Date()}::timestamptz)`;

/** The API's queries: it creates payments, reads them, and records that a payer was sent to the gateway. */
export const createPayments = (sql: Queries) => ({
  /**
   * Writes the payment, its idempotency record and its outbox entry in one statement. Two creates with the
   * same key wait for each other.
   * @param options.traceparent the trace of the request
   * @param options.plan how the payer of a test acts, if it says so
   * @param options.payer what only the gateway gets to know
   * @param options.isPaidOnce at most one payment of the order may be paid
   */
  async insert(
    payment: Payment,
    idempotency: IdempotencyRecord | null,
    options: InsertOptions = {},
  ): Promise<Inserted> {
    const { traceparent = null, plan, isPaidOnce = false, candidates = null } = options;
    const { payer = null, payerLocale = null } = options;
    const isFree = isPaidOnce ? sql`not exists (select from paid)` : sql`true`;
    const key = idempotency
      ? sql`
        insert into idempotency_keys as k
          (application, test, route, key, fingerprint, status, location, body, expires_at)
        select ${payment.application}, ${payment.test}::boolean, ${idempotency.route}, ${idempotency.key},
          ${idempotency.fingerprint}::bytea, ${idempotency.status}::int, ${idempotency.location},
          ${idempotency.body}, now() + ${idempotency.keptFor}::interval
        where ${isFree}
        on conflict (application, test, route, key) do update set
          fingerprint = excluded.fingerprint, status = excluded.status,
          location = excluded.location, body = excluded.body, expires_at = excluded.expires_at
        where k.expires_at <= ${keptUntil(sql)}
        returning 1`
      : sql`select 1 where ${isFree}`;
    const [row] = await sql<Inserted[]>`
      with ${isPaidOnce ? sql`paid as (${selectPaidOfOrder(sql, payment)}),` : sql``} key as (${key}), payment as (
        insert into payments (${insertColumns(sql)}, traceparent, candidates, payer_locale)
        select ${insertValues(sql, payment)}, ${traceparent}::text, ${candidates && [...candidates]}::text[], ${payerLocale}::text from key
        returning id
      ) ${plan ? sql`, planned as (${insertPlanned(sql, payment, plan)})` : sql``}
      ${payer === null ? sql`` : sql`, payer as (${insertPayer(sql, payer)})`}, outbox as (
        insert into workflow_outbox (payment_id, created_at)
        select id, now() from payment
        returning payment_id
      )
      select exists (select from outbox) as "isInserted",
        ${isPaidOnce ? sql`(select id from paid)` : sql`null`} as "paidBy"`;
    return row ?? { isInserted: false, paidBy: null };
  },

  /** @returns undefined if the payment does not exist or has another owner */
  get: (id: string, { application, test }: Owner) =>
    first(sql<(StoredPayment & OwnPayment)[]>`
      select ${ownColumns(sql)}, ${progress(sql)}
      from payments p join gateways g on g.slug = p.gateway
      where p.id = ${id} and p.application = ${application} and p.test = ${test}`),

  /** Why an application asks for the cancel of an open payment; null: it does not say. The end of the payment takes it over. */
  async recordCancelReason(id: string, reason: string | null): Promise<void> {
    await sql`
      update payments set cancel_request_reason = ${reason}
      where id = ${id} and status in ('pending', 'processing')
        and cancel_request_reason is distinct from ${reason}`;
  },

  /** Newest first: payments after a position, or from an offset on. */
  async list(
    { from, to, ...filter }: Owner & Filters<ListPayments>,
    { after, limit, offset }: ListPage & { offset: number },
  ): Promise<OwnPayment[]> {
    return sql<OwnPayment[]>`
      with g as materialized (select slug, driver, has_refund_credentials from gateways)
      select ${ownColumns(sql)} from payments p join g on g.slug = p.gateway
      where true ${conditionsOf(sql, filter, {
        application: (application) => sql`p.application = ${application}`,
        test: (test) => sql`p.test = ${test}`,
        orderId: (id) => sql`p.order_id = ${id}`,
        status: (status) => sql`p.status = ${status}`,
      })} ${rangeOf(sql, { from, to }, after, { at: sql`p.created_at`, id: sql`p.id` })}
      order by p.created_at desc, p.id desc
      ${limitTo(sql, limit)} ${offset === 0 ? sql`` : sql`offset ${offset}`}`;
  },

  /** For the payer's pages, which need no token: the id is unguessable. */
  getForPayer: (id: string) =>
    first(sql<PayerPayment[]>`
      select ${payerColumns(sql)} ${fromPayers(sql)} where p.id = ${id}`),

  getOutcomeForPayer: (id: string) =>
    first(sql<PayerOutcome[]>`
      select ${payerColumns(sql)}, l.found_at as "moneyFoundAt",
        coalesce(l.result = 'by_hand' and l.checked_at is null, false) as "isInDoubt",
        ${isPaidByAnother(sql)} as "isOrderPaid"
      ${fromPayers(sql)} left join late_payments l on l.payment_id = p.id
      where p.id = ${id}`),

  getForReport: (id: string) =>
    first(sql<ReportedPayment[]>`
      select ${selectPayment(sql, workflowStartFields)}, p.status, ${progress(sql)}, p.report_key as "reportKey"
      from payments p where p.id = ${id}`),

  /** Finds a payment by the gateway's reference for it. */
  getByReference: (gateway: string, reference: string) =>
    first(sql<PaymentRef[]>`
      ${selectRef(sql)} where p.gateway = ${gateway} and p.gateway_reference = ${reference}`),

  /** Finds a payment by the tracking code of its gateway. */
  getByTrackingCode: (gateway: string, trackingCode: string) =>
    first(sql<PaymentRef[]>`
      ${selectRef(sql)} where p.gateway = ${gateway} and p.tracking_code = ${trackingCode} limit 1`),

  /**
   * Records of each payment that its payer goes to the gateway, and returns the payments as they were before.
   * A payment that somebody else changes at this moment holds up no other payer: it has no redirect yet.
   * @returns with a redirect those that are opened, `pending` and not past their deadline
   */
  sendToGateway: (ids: readonly string[], now: Date): Promise<CheckoutPayment[]> =>
    sql<CheckoutPayment[]>`
      with ready as (
        select id from payments
        where id = any(${[...ids]}::text[]) and status = 'pending' and gateway_redirect is not null
          and expires_at > ${now}
        for update skip locked),
      sent as (
        update payments p set checkout_at = ${now} from ready where p.id = ready.id
        returning p.id, p.gateway_redirect)
      select ${payerColumns(sql)}, sent.gateway_redirect as redirect
      ${fromPayers(sql)} left join sent on sent.id = p.id
      where p.id = any(${[...ids]}::text[])`,

  /**
   * Records that the payer must have been at the gateway although no checkout is recorded. A restore or a
   * failover of Postgres may have lost it.
   */
  async recordLostCheckout(id: string, now: Date): Promise<void> {
    await sql`
      update payments set checkout_at = ${now}
      where id = ${id} and gateway_reference is not null and checkout_at is null`;
  },

  /** Keeps what a payer's return brought for the next call to the gateway. Nothing needs it once the payment is paid. */
  async recordReturnProof(id: string, reference: string, proof: string): Promise<void> {
    await sql`
      update payments set return_proof = ${proof}
      where id = ${id} and gateway_reference = ${reference} and status <> 'paid'
        and return_proof is distinct from ${proof}`;
  },

  /**
   * Claims the next search for late money of an ended payment: at once, then after a pause of 1, 2, 4 … at most
   * 60 minutes. The searches stop 48 hours after the end, because no gateway lets a payer pay so late.
   * @returns when it may ask the gateway; undefined if nothing is to be found, or if a claimed search is
   *   still to come, which also serves this payer
   */
  async claimLateSearch(id: string): Promise<Date | undefined> {
    const [row] = await sql<{ at: Date }[]>`
      update payments set late_searches = late_searches + 1,
        late_search_at = greatest(now(), late_search_at
          + least(interval '1 hour', interval '1 minute' * 2 ^ least(late_searches - 1, 6)))
      where id = ${id} and status in ('failed', 'cancelled', 'expired')
        and updated_at > now() - interval '48 hours'
        and (late_search_at is null or late_search_at <= now())
      returning late_search_at as at`;
    return row?.at;
  },

  /** For a claimed search that could not begin: the next payer claims it at once. */
  async unclaimLateSearch(id: string): Promise<void> {
    await sql`
      update payments set late_search_at = null, late_searches = greatest(late_searches - 1, 0)
      where id = ${id}`;
  },
});
export type Payments = ReturnType<typeof createPayments>;
