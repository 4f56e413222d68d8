import type { Event } from '../contract/event.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { RecordedAccount } from '../contract/gateway-account.ts';
import type { Payment, Redirect } from '../contract/payment.ts';
import type { DeliveryStatus } from '../contract/status.ts';
import { createAuditLog } from './audit-log.ts';
import type { Queries } from './driver/sql.ts';
import { exchangeInserts } from './gateway-exchanges.ts';
import { paymentColumns } from './payments.ts';
import { retryInquiryAt } from './sweeper.ts';

/** A payment with what its gateway needs, and how far its life has come. */
export interface PaymentWithAccount extends Payment, RecordedAccount {
  /** The gateway's own name for the payment; null until it is opened there. */
  reference: string | null;
  /** Whether the payer was ever sent to the gateway. */
  sent: boolean;
  /** Null until the payment has ended. */
  delivery: DeliveryStatus | null;
}

/** The gateway's own words, for admins only. */
export interface ProviderMessage {
  code: string | null;
  message: string | null;
}

export interface Duplicates {
  /** Another payment that has paid the same order. */
  duplicateOf: string | null;
  /** Another payment that the gateway confirmed by the same tracking code. */
  trackingCodeOf: string | null;
}

/** What was said to the gateway and led to what is written. */
interface Said {
  exchanges: readonly GatewayExchange[];
}

/** What the workflow's activities write: nothing else changes how a payment stands. */
export const createPaymentOutcomes = (sql: Queries) => ({
  async get(id: string): Promise<PaymentWithAccount | undefined> {
    const [row] = await sql<PaymentWithAccount[]>`
      select ${paymentColumns(sql)}, g.driver, g.kind as "gatewayKind", g.credentials,
        p.gateway_reference as reference, p.checkout_at is not null as sent, d.status as delivery
      from payments p
      join gateways g on g.slug = p.gateway
      left join deliveries d on d.payment_id = p.id
      where p.id = ${id}`;
    return row;
  },

  /** False when the payment has ended or was opened meanwhile. */
  async open(
    id: string,
    { reference, redirect, exchanges }: { reference: string; redirect: Redirect } & Said,
  ): Promise<boolean> {
    const { count } = await sql`
      with ${exchangeInserts(sql, id, exchanges)}
      update payments set gateway_reference = ${reference},
        gateway_redirect = ${sql.json({ ...redirect })}
      where id = ${id} and status = 'pending' and gateway_reference is null`;
    return count === 1;
  },

  /**
   * Notes that the gateway was asked in vain; `processing` also moves a pending payment there.
   * `unanswered`: it gave no usable answer, or none yet. False when the payment has ended meanwhile.
   */
  async wait(
    id: string,
    {
      processing,
      unanswered,
      now,
      exchanges,
    }: { processing: boolean; unanswered: boolean; now: Date } & Said,
  ): Promise<boolean> {
    const { count } = await sql`
      with ${exchangeInserts(sql, id, exchanges)}
      update payments set inquired_at = ${unanswered ? retryInquiryAt(sql, now) : now},
        unanswered = ${unanswered},
        status = case when ${processing} then 'processing' else status end,
        updated_at = case when ${processing} and status = 'pending' then ${now} else updated_at end
      where id = ${id} and status in ('pending', 'processing')`;
    return count === 1;
  },

  /**
   * What admins should know of a payment that is paid, and find in the audit log then. A statement
   * after the end's, not a part of it: of two that end at the same moment neither would see the other.
   * Asked again, it notes it again.
   */
  async flagDuplicates(paid: Payment): Promise<Duplicates> {
    const [row] = await sql<Duplicates[]>`
      select (
        select q.id from payments q
        where q.application = ${paid.application} and q.test = ${paid.test}
          and q.order_id = ${paid.orderId} and q.status = 'paid' and q.id <> ${paid.id}
        limit 1) as "duplicateOf", (
        select q.id from payments q
        where q.gateway = ${paid.gateway} and q.tracking_code = ${paid.trackingCode}
          and q.id <> ${paid.id}
        limit 1) as "trackingCodeOf"`;
    const doubts = row ?? { duplicateOf: null, trackingCodeOf: null };
    const { duplicateOf, trackingCodeOf } = doubts;
    const subject = `payment:${paid.id}`;
    const noted = { actor: 'service', subject, before: null, reason: null };
    if (duplicateOf !== null) {
      const after = { order_id: paid.orderId, duplicate_of: duplicateOf };
      await createAuditLog(sql).insert({ ...noted, action: 'payment.duplicate', after });
    }
    if (trackingCodeOf !== null) {
      const after = { tracking_code: paid.trackingCode, also_of: trackingCodeOf };
      await createAuditLog(sql).insert({ ...noted, action: 'payment.tracking_code_twice', after });
    }
    return doubts;
  },

  /**
   * Ends a payment: the outcome, the event with its frozen body and the delivery, in one transaction.
   * @param ended the payment as it is to stand
   * @param options.unsent only while no payer was sent to the gateway
   * @returns false when it had ended already (or a payer was sent): nothing changes
   */
  async end(
    ended: Payment,
    event: Event,
    { words, unsent, exchanges }: { words: ProviderMessage; unsent: boolean } & Said,
  ): Promise<boolean> {
    const { count } = await sql`
      with ended as (
        update payments set status = ${ended.status}, tracking_code = ${ended.trackingCode},
          card_pan_masked = ${ended.cardPanMasked}, paid_at = ${ended.paidAt},
          failure_code = ${ended.failureCode}, updated_at = ${event.createdAt},
          gateway_code = ${words.code}, gateway_message = ${words.message}
        where id = ${ended.id} and status in ('pending', 'processing')
          and (not ${unsent} or checkout_at is null)
        returning id, application
      ), event as (
        insert into events (payment_id, id, kind, body, created_at)
        select id, ${event.id}::uuid, ${event.kind}, ${Buffer.from(event.body)}::bytea,
          ${event.createdAt}::timestamptz
        from ended
        returning payment_id, created_at
      ), ${exchangeInserts(sql, ended.id, exchanges)}
      insert into deliveries (payment_id, status, next_attempt_at)
      select ended.id, case when a.webhook_url is null then 'none' else 'pending' end,
        case when a.webhook_url is not null then event.created_at end
      from ended join event on event.payment_id = ended.id
      join applications a on a.slug = ended.application`;
    return count === 1;
  },
});
export type PaymentOutcomes = ReturnType<typeof createPaymentOutcomes>;
