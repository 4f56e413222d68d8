import type { ListPage } from '../../contract/list.ts';
import type { DeliveryStatus } from '../../contract/status.ts';
import {
  type AttemptRecord,
  deliveryColumns,
  joinLastAttempt,
  type ListedDelivery,
} from '../webhooks/deliveries.ts';
import { type DeliveryFilter, matchingDeliveries } from '../webhooks/delivery-filter.ts';
import type { Fragment, Queries } from '../driver/sql.ts';

/** A row of a list of deliveries. */
export interface DeliveryRow extends ListedDelivery {
  status: DeliveryStatus;
  createdAt: Date;
  nextAttemptAt: Date | null;
}

/** An event of a payment, of one of its refunds or disputes, or of a link. */
export interface EventSummary extends DeliveryRow {
  /** All are null: it is the payment's own. */
  refundId: string | null;
  disputeId: string | null;
  linkId: string | null;
  /** False: the event is of a link that nobody has tried to pay, and no payment has its id. */
  hasPayment: boolean;
}

/** An event with the bytes that every attempt sends, and all attempts. */
export interface EventRecord extends Omit<EventSummary, 'attempts' | 'responseStatus'> {
  round: number;
  body: Buffer;
  attempts: AttemptRecord[];
}

export const listAttempts = (sql: Queries, eventId: string) => sql<AttemptRecord[]>`
  select number, round, trigger, started_at as "startedAt", completed_at as "completedAt",
    duration_ms as "durationMs", response_status as "responseStatus",
    error_class as "errorClass", error, response_body as "responseBody",
    response_truncated as "responseTruncated"
  from attempts where event_id = ${eventId} order by number`;

/** Events for admins, of whatever application. */
export const createAdminEvents = (sql: Queries) => {
  const rowColumns = sql`${deliveryColumns(sql)}, d.status, d.created_at as "createdAt",
    d.next_attempt_at as "nextAttemptAt"`;
  const summary = (columns: Fragment, condition: Fragment) => sql<
    (EventSummary & Pick<EventRecord, 'round' | 'body'>)[]
  >`
    select ${rowColumns}, case when e.kind like 'refund.%' then e.subject end as "refundId",
      case when e.kind like 'dispute.%' then e.subject end as "disputeId",
      case when e.kind like 'link.%' then e.subject end as "linkId", e.payment_id is not null as "hasPayment" ${columns}
    from events e cross join lateral (
      select * from deliveries where event_id = e.id offset 0) as d
    ${joinLastAttempt(sql)}
    where ${condition} order by d.recorded_at`;

  return {
    /** The newest first. */
    async list(filter: DeliveryFilter, page: ListPage): Promise<DeliveryRow[]> {
      return sql<DeliveryRow[]>`
        select ${rowColumns}
        from (${matchingDeliveries(sql, filter, { order: 'newest', ...page })}) as d
        ${joinLastAttempt(sql)}
        order by d.created_at desc, d.event_id desc`;
    },

    /** The payment's own event and those of its refunds and disputes, in the order of recording. */
    async listOfPayment(paymentId: string): Promise<EventSummary[]> {
      return summary(sql``, sql`e.payment_id = ${paymentId}`);
    },

    async find(id: string): Promise<EventSummary | undefined> {
      const [event] = await summary(sql``, sql`e.id = ${id}`);
      return event;
    },

    async get(id: string): Promise<EventRecord | undefined> {
      const [event] = await summary(sql`, d.round, e.body`, sql`e.id = ${id}`);
      if (!event) return undefined;
      const { responseStatus: _, ...facts } = event;
      return { ...facts, attempts: await listAttempts(sql, id) };
    },
  };
};
