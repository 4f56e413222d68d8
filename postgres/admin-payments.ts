import type { EventKind } from '../contract/event.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import { eventId } from '../contract/ids.ts';
import type { Payment } from '../contract/payment.ts';
import type { DeliveryStatus, Status } from '../contract/status.ts';
import { type AttemptRecord, listAttempts } from './admin-events.ts';
import type { Queries } from './driver/sql.ts';
import { createGatewayExchanges } from './gateway-exchanges.ts';
import type { LatePaymentResult } from './late-payments.ts';
import { selectPayment } from './payment-columns.ts';

const summaryFields = [
  'id',
  'application',
  'orderId',
  'status',
  'amount',
  'currency',
  'gateway',
  'test',
  'createdAt',
] as const;

/** A payment in a list for admins. */
export interface PaymentSummary extends Pick<Payment, (typeof summaryFields)[number]> {
  /** Null until the payment has ended. */
  delivery: DeliveryStatus | null;
  /** An earlier payment that paid the same order, if there is one. */
  duplicateOf: string | null;
}

const detailFields = [
  'expiresAt',
  'updatedAt',
  'trackingCode',
  'cardPanMasked',
  'failureCode',
  'cancelledBy',
  'cancellationReason',
  'amountRefunded',
  'amountRefundPending',
] as const;

export interface PaymentFilter {
  id: string | null;
  orderId: string | null;
  application: string | null;
  status: Status | null;
}

/** Everything that is recorded about a payment, for admins only. */
export interface PaymentRecord
  extends PaymentSummary, Pick<Payment, (typeof detailFields)[number]> {
  gatewayReference: string | null;
  /** When the payer was last sent to the gateway. */
  checkoutAt: Date | null;
  /** From when the sweeper counts the interval to its next inquiry, see sweeper.ts. */
  inquiredAt: Date | null;
  gatewayCode: string | null;
  gatewayMessage: string | null;
  /** The payment's own event, and its delivery. */
  eventId: string | null;
  eventKind: EventKind | null;
  eventAt: Date | null;
  round: number | null;
  nextAttemptAt: Date | null;
  /** When money was found after the end; null if there was none. */
  latePaymentFoundAt: Date | null;
  /** Null while the late payment is being resolved, like the next field. */
  latePaymentResult: LatePaymentResult | null;
  latePaymentResolvedAt: Date | null;
  /** When a person said that this money was looked after. */
  latePaymentCheckedAt: Date | null;
  attempts: AttemptRecord[];
  /** The last exchanges; of the sweeper's inquiries the last one with each result. */
  exchanges: GatewayExchange[];
}

/** Joins the event that ended the payment `p` as `e`, and its delivery as `d`. */
export const joinOwnDelivery = (sql: Queries) => sql`
  left join events e on e.payment_id = p.id and e.subject = p.id
  left join deliveries d on d.event_id = e.id`;

export const createAdminPayments = (sql: Queries) => {
  const summary = sql`
    ${selectPayment(sql, summaryFields)}, d.status as delivery,
    (select q.id from payments q
      where q.application = p.application and q.test = p.test and q.order_id = p.order_id
        and q.status = 'paid' and (q.paid_at, q.id) < (coalesce(p.paid_at, p.created_at), p.id)
      order by q.paid_at limit 1) as "duplicateOf"`;

  const ownDelivery = joinOwnDelivery(sql);

  return {
    /**
     * The newest first: ids are ordered by time. If only the order is given, Postgres 18 skips through the
     * index on application and order. A status alone is found by a scan from the newest payment on.
     */
    async find(filter: PaymentFilter, limit: number): Promise<PaymentSummary[]> {
      const { id, orderId, application, status } = filter;
      return sql<PaymentSummary[]>`
        select ${summary} from payments p ${ownDelivery}
        where true
          ${id === null ? sql`` : sql`and p.id = ${id}`}
          ${orderId === null ? sql`` : sql`and p.order_id = ${orderId}`}
          ${application === null ? sql`` : sql`and p.application = ${application}`}
          ${status === null ? sql`` : sql`and p.status = ${status}`}
        order by p.id desc limit ${limit}`;
    },

    async applicationOf(id: string): Promise<string | undefined> {
      const [row] = await sql<{ application: string }[]>`
        select application from payments where id = ${id}`;
      return row?.application;
    },

    async get(id: string): Promise<PaymentRecord | undefined> {
      const [row] = await sql<Omit<PaymentRecord, 'attempts' | 'exchanges'>[]>`
        select ${summary}, ${selectPayment(sql, detailFields)},
          p.gateway_reference as "gatewayReference", p.checkout_at as "checkoutAt",
          p.inquired_at as "inquiredAt", p.gateway_code as "gatewayCode",
          p.gateway_message as "gatewayMessage", e.id as "eventId", e.kind as "eventKind",
          e.created_at as "eventAt", d.round, d.next_attempt_at as "nextAttemptAt",
          l.found_at as "latePaymentFoundAt", l.result as "latePaymentResult",
          l.resolved_at as "latePaymentResolvedAt", l.checked_at as "latePaymentCheckedAt"
        from payments p
        ${ownDelivery}
        left join late_payments l on l.payment_id = p.id
        where p.id = ${id}`;
      if (!row) return undefined;
      const exchanges = await createGatewayExchanges(sql).list(id);
      return { ...row, attempts: await listAttempts(sql, eventId(id)), exchanges };
    },
  };
};
