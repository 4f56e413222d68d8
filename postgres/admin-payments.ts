import type { EventKind } from '../contract/event.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { DeliveryStatus, Status } from '../contract/status.ts';
import type { Queries } from './driver/sql.ts';
import { createGatewayExchanges } from './gateway-exchanges.ts';
import type { LatePaymentResult } from './late-payments.ts';

/** A payment in a list for admins. */
export interface PaymentSummary {
  id: string;
  application: string;
  orderId: string;
  status: Status;
  amount: number;
  currency: string;
  gateway: string;
  test: boolean;
  /** Null until the payment has ended. */
  delivery: DeliveryStatus | null;
  /** The payment that had paid the same order before; null where there is none. */
  duplicateOf: string | null;
  createdAt: Date;
}

export interface PaymentFilter {
  id: string | null;
  orderId: string | null;
  application: string | null;
  status: Status | null;
  delivery: DeliveryStatus | null;
}

/** One POST with all that is known of it. */
export interface AttemptRecord {
  number: number;
  round: number;
  trigger: 'schedule' | 'admin';
  startedAt: Date;
  completedAt: Date | null;
  durationMs: number | null;
  responseStatus: number | null;
  errorClass: string | null;
  error: string | null;
  responseBody: string | null;
  responseTruncated: boolean | null;
}

/** All that happened to a payment, for admins alone. */
export interface PaymentRecord extends PaymentSummary {
  expiresAt: Date;
  updatedAt: Date;
  gatewayReference: string | null;
  /** When the payer was last sent to the gateway, and from when it counts as asked: see sweep.ts. */
  checkoutAt: Date | null;
  askedAt: Date | null;
  trackingCode: string | null;
  cardPanMasked: string | null;
  failureCode: FailureCode | null;
  gatewayCode: string | null;
  gatewayMessage: string | null;
  eventId: string | null;
  eventKind: EventKind | null;
  eventAt: Date | null;
  round: number | null;
  nextAttemptAt: Date | null;
  /** Money that came after the end; null where there was none, and the last two while it is worked on. */
  lateMoneyAt: Date | null;
  latePayments: LatePaymentResult | null;
  lateMoneySettledAt: Date | null;
  attempts: AttemptRecord[];
  /** The last ones; of inquiries the last with each result. */
  exchanges: GatewayExchange[];
}

export const createAdminPayments = (sql: Queries) => {
  const line = sql`
    p.id, p.application, p.order_id as "orderId", p.status, p.amount, p.currency, p.gateway,
    p.test, p.created_at as "createdAt", d.status as delivery,
    (select q.id from payments q
      where q.application = p.application and q.test = p.test and q.order_id = p.order_id
        and q.status = 'paid' and (q.paid_at, q.id) < (coalesce(p.paid_at, p.created_at), p.id)
      order by q.paid_at limit 1) as "duplicateOf"`;

  const attemptsOf = (id: string) => sql<AttemptRecord[]>`
    select number, round, trigger, started_at as "startedAt", completed_at as "completedAt",
      duration_ms as "durationMs", response_status as "responseStatus",
      error_class as "errorClass", error, response_body as "responseBody",
      response_truncated as "responseTruncated"
    from attempts where payment_id = ${id} order by number`;

  return {
    /**
     * The newest first: ids are ordered by time. An order has an index behind its application, which
     * Postgres skips through since 18 where none is given; a status alone is looked for from the newest on.
     */
    async find(filter: PaymentFilter, limit: number): Promise<PaymentSummary[]> {
      const { id, orderId, application, status, delivery } = filter;
      return sql<PaymentSummary[]>`
        select ${line} from payments p left join deliveries d on d.payment_id = p.id
        where true
          ${id === null ? sql`` : sql`and p.id = ${id}`}
          ${orderId === null ? sql`` : sql`and p.order_id = ${orderId}`}
          ${application === null ? sql`` : sql`and p.application = ${application}`}
          ${status === null ? sql`` : sql`and p.status = ${status}`}
          ${delivery === null ? sql`` : sql`and d.status = ${delivery}`}
        order by p.id desc limit ${limit}`;
    },

    async get(id: string): Promise<PaymentRecord | undefined> {
      const [row] = await sql<Omit<PaymentRecord, 'attempts' | 'exchanges'>[]>`
        select ${line}, p.expires_at as "expiresAt", p.updated_at as "updatedAt",
          p.gateway_reference as "gatewayReference", p.checkout_at as "checkoutAt",
          p.inquired_at as "askedAt", p.tracking_code as "trackingCode",
          p.card_pan_masked as "cardPanMasked", p.failure_code as "failureCode",
          p.gateway_code as "gatewayCode", p.gateway_message as "gatewayMessage",
          e.id as "eventId", e.kind as "eventKind", e.created_at as "eventAt",
          d.round, d.next_attempt_at as "nextAttemptAt", l.found_at as "lateMoneyAt",
          l.result as "latePayments", l.resolved_at as "lateMoneySettledAt"
        from payments p
        left join events e on e.payment_id = p.id
        left join deliveries d on d.payment_id = p.id
        left join late_payments l on l.payment_id = p.id
        where p.id = ${id}`;
      if (!row) return undefined;
      const exchanges = await createGatewayExchanges(sql).list(id);
      return { ...row, attempts: await attemptsOf(id), exchanges };
    },

    /** Ids of payments whose delivery is exhausted, after one id, in order. */
    async listExhausted(
      application: string | null,
      { after, limit }: { after: string; limit: number },
    ): Promise<string[]> {
      const rows = await sql<{ id: string }[]>`
        select d.payment_id as id
        from deliveries d join payments p on p.id = d.payment_id
        where d.status = 'exhausted' and d.payment_id > ${after}
          ${application === null ? sql`` : sql`and p.application = ${application}`}
        order by d.payment_id limit ${limit}`;
      return rows.map(({ id }) => id);
    },

    async countExhausted(application: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*) from deliveries d join payments p on p.id = d.payment_id
        where d.status = 'exhausted' and p.application = ${application}`;
      return row?.count ?? 0;
    },

    async deliveryStatus(id: string): Promise<DeliveryStatus | null | undefined> {
      const [row] = await sql<{ delivery: DeliveryStatus | null }[]>`
        select d.status as delivery
        from payments p left join deliveries d on d.payment_id = p.id where p.id = ${id}`;
      return row?.delivery;
    },
  };
};
