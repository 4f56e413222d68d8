import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Sql } from '../postgres/driver/sql.ts';
import { isOwed } from './books.ts';
import type { Client } from './client.ts';
import type { Created } from './wishes.ts';

const Shown = z.object({
  ...{ payment_id: z.string(), application: z.string(), order_id: z.string(), status: z.string() },
  ...{ amount: z.int(), currency: z.string(), test: z.boolean() },
  ...{ tracking_code: z.string().nullable(), card_pan_masked: z.string().nullable() },
  ...{ paid_at: z.string().nullable() },
  ...{ failure_code: z.string().nullable(), failure_reason: z.string().nullable() },
  metadata: z.record(z.string(), z.unknown()),
});
/** A payment as the API answers it, in the fields that its event has as well. */
export type Shown = z.output<typeof Shown>;

export interface LedgerRow {
  number: number;
  completed: boolean;
  status: number | null;
}

/** What the service says of its payments when all is over, by payment id. */
export interface Records {
  shown: Map<string, Shown>;
  events: Map<string, { id: string; body: Buffer }[]>;
  ledger: Map<string, LedgerRow[]>;
  deliveries: Map<string, string>;
  /** What the audit log says of money that came late, in order: `found`, and where it went. */
  late: Map<string, string[]>;
  /** How many payments each order has. */
  orders: Map<string, number>;
}

export interface RecordOptions {
  sql: Sql;
  client: Client;
  apiUrl: string;
  token: string;
}

const readPatienceMs = 30_000;
const readsAtOnce = 8;

export const readRecords = async (
  payments: readonly Created[],
  { sql, client, apiUrl, token }: RecordOptions,
): Promise<Records> => {
  const shown = new Map<string, Shown>();
  const queue = payments.values();
  const lane = async () => {
    for (const { id, order } of queue) {
      const answer = await client(
        {
          ...{ method: 'GET', url: `${apiUrl}/api/v1/payments/${id}` },
          headers: { authorization: `Bearer ${token}` },
        },
        {
          ...{ what: 'read', order, until: Date.now() + readPatienceMs },
          takes: (status) => status === 200,
        },
      );
      if (answer) shown.set(id, Shown.parse(JSON.parse(answer.text)));
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, lane));
  const events = await sql<{ payment_id: string; id: string; body: Buffer }[]>`
    select payment_id, id, body from events`;
  const ledger = await sql<(LedgerRow & { payment_id: string })[]>`
    select payment_id, number, completed_at is not null as completed, response_status as status
    from attempts order by number`;
  const deliveries = await sql<{ payment_id: string; status: string }[]>`
    select payment_id, status from deliveries`;
  const orders = await sql<{ order_id: string; payments: number }[]>`
    select order_id, count(*)::int as payments from payments group by order_id`;
  const late = await sql<{ payment_id: string; entries: string[] }[]>`
    select replace(subject, 'payment:', '') as payment_id,
      array_agg(replace(action, 'payment.late_payment_', '') order by id) as entries
    from audit_log where starts_with(action, 'payment.late_payment_') group by subject`;
  return {
    shown,
    events: Map.groupBy(events, ({ payment_id }) => payment_id),
    ledger: Map.groupBy(ledger, ({ payment_id }) => payment_id),
    deliveries: new Map(deliveries.map(({ payment_id, status }) => [payment_id, status])),
    late: new Map(late.map(({ payment_id, entries }) => [payment_id, entries])),
    orders: new Map(orders.map((row) => [row.order_id, row.payments])),
  };
};

/** Until every event is delivered and no payer's money is owed, or the time is over. */
export const drain = async (
  sql: Sql,
  payments: readonly Created[],
  limitMs: number,
): Promise<void> => {
  const ids = payments.map(({ id }) => id);
  const isOver = async () => {
    if ((await countUnfinished(sql, ids)) > 0) return false;
    const rows = await sql<{ id: string; status: string; failure_code: string | null }[]>`
      select id, status, failure_code from payments where id = any(${ids})`;
    const ends = new Map(rows.map((row) => [row.id, row]));
    return payments.every((payment) => {
      const ended = ends.get(payment.id);
      return ended && !isOwed(payment, ended);
    });
  };
  for (const until = Date.now() + limitMs; Date.now() < until; await sleep(250))
    // Postgres may be the one that was killed last.
    if (await isOver().catch(() => false)) return;
};

/** Nobody has anything to do with them any more: ended, and their event delivered. */
const countUnfinished = async (sql: Sql, ids: readonly string[]): Promise<number> => {
  const [row] = await sql<{ done: number }[]>`
    select count(*)::int as done from deliveries
    where payment_id = any(${ids}) and status = 'delivered'`;
  return ids.length - (row?.done ?? 0);
};
