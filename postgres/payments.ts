import DataLoader from 'dataloader';
import type { ListPosition } from '../contract/list-payments.ts';
import type { Payment, Redirect, WorkflowStart } from '../contract/payment.ts';
import type { Status } from '../contract/status.ts';
import type { Queries } from './driver/sql.ts';

/** Kept with a create, so that the same key answers the same bytes. */
export interface IdempotencyRecord {
  route: string;
  key: string;
  /** SHA-256. */
  fingerprint: Buffer;
  status: number;
  location: string;
  body: string;
  expiresAt: Date;
}

export interface StoredPayment extends Payment {
  /** Whether the payer was ever sent to the gateway. */
  sent: boolean;
}

/** A payment as far as its workflow takes it. */
export type PaymentRef = WorkflowStart & Pick<Payment, 'status'>;

/** A payment as its payer meets it. */
export interface PayerPayment extends StoredPayment {
  driver: string;
  inOutbox: boolean;
  /** That of the create, while it is unstarted and where its caller sent one. */
  traceId: string | null;
}

/** Of `payments p`: what is a {@link Payment}. */
export const paymentColumns = (sql: Queries) => sql`
  p.id, p.application, p.order_id as "orderId", p.status, p.amount, p.currency, p.gateway,
  p.description, p.callback_url as "callbackUrl", p.metadata, p.test,
  p.tracking_code as "trackingCode", p.card_pan_masked as "cardPanMasked", p.paid_at as "paidAt",
  p.failure_code as "failureCode", p.expires_at as "expiresAt", p.created_at as "createdAt",
  p.updated_at as "updatedAt"`;

/** Of `payments p`: what is {@link WorkflowStart}. */
export const workflowStartColumns = (sql: Queries) => sql`
  p.id, p.application, p.order_id as "orderId", p.amount, p.currency, p.gateway,
  p.expires_at as "expiresAt"`;

/** Whose payments a caller may see: an application's, of its token's mode. */
export interface Owner {
  application: string;
  test: boolean;
}

/** Which payments, and which of them: those `after` a place, or from an offset. */
export interface ListQuery {
  orderId: string | undefined;
  status: Status | undefined;
  from: Date | undefined;
  to: Date | undefined;
  after: ListPosition | undefined;
  limit: number;
  offset: number;
}

/** The tighter of two upper bounds: given both, an index scan may begin at the other and walk to it. */
const tighter = ({ to, after }: ListQuery): Pick<ListQuery, 'to' | 'after'> => {
  if (to === undefined || after === undefined) return { to, after };
  return after.createdAt < to ? { to: undefined, after } : { to, after: undefined };
};

const readsAtOnce = 50;

/**
 * Undefined also for another owner's payment. Reads that are asked for in one turn of the event loop
 * share a statement: under load its round trip is most of what a read costs.
 */
const createGet = (sql: Queries) => {
  const readAll = async (wanted: readonly (Owner & Pick<Payment, 'id'>)[]) => {
    const rows = await sql<(StoredPayment & { nth: number })[]>`
      select ${paymentColumns(sql)}, p.checkout_at is not null as sent, w.nth
      from unnest(${wanted.map(({ id }) => id)}::text[],
          ${wanted.map(({ application }) => application)}::text[],
          ${wanted.map(({ test }) => String(test))}::text[])
        with ordinality as w (id, application, test, nth)
      join payments p
        on p.id = w.id and p.application = w.application and p.test = w.test::boolean`;
    const found: (StoredPayment | undefined)[] = wanted.map(() => undefined);
    for (const { nth, ...payment } of rows) found[nth - 1] = payment;
    return found;
  };
  // Its cache would only grow: nothing may be answered from it.
  const reads = new DataLoader(readAll, { cache: false, maxBatchSize: readsAtOnce });
  return (id: string, owner: Owner): Promise<StoredPayment | undefined> =>
    reads.load({ id, ...owner });
};

const looksAtOnce = 200;
const looksTogetherMs = 40;

/** Whether the payer need not wait any longer: the payment is open at its gateway, or has ended. */
const createIsOpened = (sql: Queries) => {
  const lookAll = async (ids: readonly string[]) => {
    const rows = await sql<Pick<Payment, 'id'>[]>`
      select id from payments
      where id = any(${ids}::text[]) and (gateway_redirect is not null or status <> 'pending')`;
    const opened = new Set(rows.map(({ id }) => id));
    return ids.map((id) => opened.has(id));
  };
  // Behind a slow gateway hundreds may wait, who all look again and again: together they are one.
  const looks = new DataLoader(lookAll, {
    cache: false,
    maxBatchSize: looksAtOnce,
    batchScheduleFn: (look) => void setTimeout(look, looksTogetherMs),
  });
  return (id: string): Promise<boolean> => looks.load(id);
};

/** What the API may do to payments: write new ones, read, and note that a payer was sent off. */
export const createPayments = (sql: Queries) => ({
  /**
   * Writes the payment, its idempotency record and its `unstarted` row in one statement.
   * Twins with one key wait for each other. @returns false when the key is taken: nothing is written.
   * @param traceId of the request, for whoever starts the workflow later
   */
  async insert(
    p: Payment,
    idempotency: IdempotencyRecord | null,
    traceId: string | null = null,
  ): Promise<boolean> {
    const key = idempotency
      ? sql`
        insert into idempotency_keys as k
          (application, test, route, key, fingerprint, status, location, body, expires_at)
        values (${p.application}, ${p.test}, ${idempotency.route}, ${idempotency.key},
          ${idempotency.fingerprint}, ${idempotency.status}, ${idempotency.location},
          ${idempotency.body}, ${idempotency.expiresAt})
        on conflict (application, test, route, key) do update set
          fingerprint = excluded.fingerprint, status = excluded.status,
          location = excluded.location, body = excluded.body, expires_at = excluded.expires_at
        where k.expires_at <= now()
        returning 1`
      : sql`select 1`;
    const inserted = await sql`
      with key as (${key}), payment as (
        insert into payments (id, application, test, order_id, status, amount, currency, gateway,
          description, callback_url, metadata, expires_at, created_at, updated_at)
        select ${p.id}, ${p.application}, ${p.test}, ${p.orderId}, ${p.status}, ${p.amount}::bigint,
          ${p.currency}, ${p.gateway}, ${p.description}, ${p.callbackUrl}, ${p.metadata},
          ${p.expiresAt}::timestamptz, ${p.createdAt}::timestamptz, ${p.updatedAt}::timestamptz
        from key
        returning id, created_at
      )
      insert into workflow_outbox (payment_id, created_at, trace_id)
      select id, created_at, ${traceId}::text from payment
      returning payment_id`;
    return inserted.count === 1;
  },

  get: createGet(sql),
  isOpened: createIsOpened(sql),

  /**
   * Newest first. The text has only the conditions that are asked for, so that each list finds its
   * index. The usual limit (20 and one more) stands in it as a number: with a parameter there Postgres
   * would make a plan each time.
   */
  async list({ application, test }: Owner, wanted: ListQuery): Promise<Payment[]> {
    const { orderId, status, from } = wanted;
    const { to, after } = tighter(wanted);
    return sql<Payment[]>`
      select ${paymentColumns(sql)} from payments p
      where p.application = ${application} and p.test = ${test}
        ${orderId === undefined ? sql`` : sql`and p.order_id = ${orderId}`}
        ${status === undefined ? sql`` : sql`and p.status = ${status}`}
        ${from === undefined ? sql`` : sql`and p.created_at >= ${from}`}
        ${to === undefined ? sql`` : sql`and p.created_at < ${to}`}
        ${after === undefined ? sql`` : sql`and (p.created_at, p.id) < (${after.createdAt}, ${after.id})`}
      order by p.created_at desc, p.id desc
      ${wanted.limit === 21 ? sql`limit 21` : sql`limit ${wanted.limit}`}
      ${wanted.offset === 0 ? sql`` : sql`offset ${wanted.offset}`}`;
  },

  /** For a payer's page: whoever knows the unguessable id may ask. */
  async getForPayer(id: string): Promise<PayerPayment | undefined> {
    const [row] = await sql<PayerPayment[]>`
      select ${paymentColumns(sql)}, g.driver, p.checkout_at is not null as sent,
        u.payment_id is not null as "inOutbox", u.trace_id as "traceId"
      from payments p join gateways g on g.slug = p.gateway
      left join workflow_outbox u on u.payment_id = p.id
      where p.id = ${id}`;
    return row;
  },

  /** The payment that a gateway has under its own name for it. */
  async getByReference(gateway: string, reference: string): Promise<PaymentRef | undefined> {
    const [row] = await sql<PaymentRef[]>`
      select ${workflowStartColumns(sql)}, p.status from payments p
      where p.gateway = ${gateway} and p.gateway_reference = ${reference}`;
    return row;
  },

  /** Notes that the payer goes to the gateway. @returns where, or undefined when that is over. */
  async sendToGateway(id: string, now: Date): Promise<Redirect | undefined> {
    const [row] = await sql<{ gateway_redirect: Redirect }[]>`
      update payments set checkout_at = ${now}
      where id = ${id} and status = 'pending' and gateway_redirect is not null
        and expires_at > ${now}
      returning gateway_redirect`;
    return row?.gateway_redirect;
  },
});
export type Payments = ReturnType<typeof createPayments>;
