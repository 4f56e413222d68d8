import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Sql } from '../postgres/driver/sql.ts';
import type { Client } from './client.ts';
import { owesMoney } from './gateway-records.ts';
import type { CreatedPayment } from './scenarios.ts';

const ShownPayment = z.object({
  payment_id: z.string(),
  application: z.string(),
  order_id: z.string(),
  status: z.string(),
  amount: z.int(),
  currency: z.string(),
  test: z.boolean(),
  tracking_code: z.string().nullable(),
  card_pan_masked: z.string().nullable(),
  paid_at: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_reason: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
});
/** A payment as the API shows it, in the fields that its event has too. */
export type ShownPayment = z.output<typeof ShownPayment>;
const PaymentInApi = ShownPayment.extend({ gateway: z.string() });

export interface AttemptRow {
  number: number;
  completed: boolean;
  status: number | null;
}

/** The service's records of its payments at the end, by payment id. */
export interface ServiceRecords {
  shown: Map<string, ShownPayment>;
  /** The gateway that the API names for each payment. */
  gateways: Map<string, string>;
  events: Map<string, { id: string; body: Buffer }[]>;
  attempts: Map<string, AttemptRow[]>;
  deliveries: Map<string, string>;
  /** The way that the money of late payments took; `found` while that is open. */
  latePayments: Map<string, string>;
  /** The number of payments with each idempotency key, which their metadata has as `order`. */
  orders: Map<string, number>;
  /** By payment id. */
  refunds: Map<string, RefundRow[]>;
  sums: Map<string, { refunded: number; pending: number }>;
  /** By their own id. */
  links: Map<string, LinkRow>;
}

/** A payment link with its events. */
interface LinkRow {
  id: string;
  status: string;
  paymentId: string | null;
  events: { id: string; kind: string; delivery: string }[];
}

/** A refund with its events. */
export interface RefundRow {
  id: string;
  status: string;
  stage: string | null;
  amount: number;
  requestedBy: string;
  events: { id: string; kind: string; delivery: string }[];
}

export interface RecordOptions {
  sql: Sql;
  client: Client;
  apiUrl: string;
  token: string;
}

const readTimeoutMs = 30_000;
const readsAtOnce = 8;

export const readServiceRecords = async (
  payments: readonly CreatedPayment[],
  { sql, client, apiUrl, token }: RecordOptions,
): Promise<ServiceRecords> => {
  const shown = new Map<string, ShownPayment>();
  const gateways = new Map<string, string>();
  const queue = payments.values();
  const lane = async () => {
    for (const { id, order } of queue) {
      const response = await client(
        {
          method: 'GET',
          url: `${apiUrl}/api/v1/payments/${id}`,
          headers: { authorization: `Bearer ${token}` },
        },
        { name: 'read', order, until: Date.now() + readTimeoutMs, expects: [200] },
      );
      if (!response) continue;
      const { gateway, ...payment } = PaymentInApi.parse(JSON.parse(response.text));
      shown.set(id, payment);
      gateways.set(id, gateway);
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, lane));
  const events = await sql<{ payment_id: string; id: string; body: Buffer }[]>`
    select payment_id, id, body from events where subject = payment_id`;
  const attempts = await sql<(AttemptRow & { payment_id: string })[]>`
    select d.payment_id, t.number, t.completed_at is not null as completed,
      t.response_status as status
    from attempts t join deliveries d using (event_id)
    where d.kind like 'payment.%' order by t.number`;
  const deliveries = await sql<{ payment_id: string; status: string }[]>`
    select payment_id, status from deliveries where kind like 'payment.%'`;
  const orders = await sql<{ key: string; payments: number }[]>`
    select metadata::json->>'order' as key, count(*)::int as payments from payments
    where metadata::json->>'order' is not null group by key`;
  const latePayments = await sql<{ payment_id: string; result: string }[]>`
    select payment_id, coalesce(result, 'found') as result from late_payments`;
  const refunds = await sql<(RefundRow & { payment_id: string })[]>`
    select r.payment_id, r.id, r.status, r.stage, r.amount, r.requested_by as "requestedBy",
      coalesce(json_agg(json_build_object('id', d.event_id, 'kind', d.kind, 'delivery', d.status))
        filter (where d.event_id is not null), '[]') as events
    from refunds r left join events e on e.subject = r.id left join deliveries d on d.event_id = e.id
    group by r.id`;
  const sums = await sql<{ id: string; refunded: number; pending: number }[]>`
    select id, amount_refunded as refunded, amount_refund_pending as pending from payments`;
  const links = await sql<LinkRow[]>`
    select l.id, l.status, l.payment_id as "paymentId",
      coalesce(json_agg(json_build_object('id', d.event_id, 'kind', d.kind, 'delivery', d.status))
        filter (where d.event_id is not null), '[]') as events
    from links l left join events e on e.subject = l.id left join deliveries d on d.event_id = e.id
    group by l.id`;
  return {
    links: new Map(links.map((row) => [row.id, row])),
    refunds: Map.groupBy(refunds, ({ payment_id }) => payment_id),
    sums: new Map(sums.map(({ id, ...row }) => [id, row])),
    shown,
    gateways,
    events: Map.groupBy(events, ({ payment_id }) => payment_id),
    attempts: Map.groupBy(attempts, ({ payment_id }) => payment_id),
    deliveries: new Map(deliveries.map(({ payment_id, status }) => [payment_id, status])),
    latePayments: new Map(latePayments.map(({ payment_id, result }) => [payment_id, result])),
    orders: new Map(orders.map((row) => [row.key, row.payments])),
  };
};

/** Waits until every event is delivered and no payer's money is owed, or the time is over. */
export const drain = async (
  sql: Sql,
  payments: readonly CreatedPayment[],
  limitMs: number,
): Promise<void> => {
  const ids = payments.map(({ id }) => id);
  const isDone = async () => {
    if ((await countUndelivered(sql, ids)) > 0 || (await countOpen(sql)) > 0) return false;
    const rows = await sql<{ id: string; status: string; failure_code: string | null }[]>`
      select id, status, failure_code from payments where id = any(${ids})`;
    const outcomes = new Map(rows.map((row) => [row.id, row]));
    return payments.every((payment) => {
      const outcome = outcomes.get(payment.id);
      return outcome && !owesMoney(payment, outcome);
    });
  };
  for (const until = Date.now() + limitMs; Date.now() < until; await sleep(250))
    // The last kill can have been Postgres's.
    if (await isDone().catch(() => false)) return;
};

/** Refunds and paid links that have not ended, and their events that are not delivered. */
const countOpen = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ open: number }[]>`
    select (select count(*) from refunds where status = 'pending')::int
      + (select count(*) from payments p join links l on l.id = p.link_id
        where p.status = 'paid' and l.status <> 'paid')::int
      + (select count(*) from deliveries
        where kind like any (array['refund.%', 'link.%']) and status = 'pending')::int as open`;
  return row?.open ?? 0;
};

const countUndelivered = async (sql: Sql, ids: readonly string[]): Promise<number> => {
  const [row] = await sql<{ delivered: number }[]>`
    select count(*)::int as delivered from deliveries
    where payment_id = any(${ids}) and status = 'delivered' and kind like 'payment.%'`;
  return ids.length - (row?.delivered ?? 0);
};
