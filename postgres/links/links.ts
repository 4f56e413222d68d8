import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListLinks } from '../../contract/links/list.ts';
import type { Link } from '../../contract/links/link.ts';
import type { Person } from '../audit-log.ts';
import type { Status } from '../../contract/status.ts';
import { type PaidTo, selectPaidTo } from '../applications/applications.ts';
import { changesOne, first, type Fragment, type Queries } from '../driver/sql.ts';
import type { Gateway } from '../gateways/gateways.ts';
import { conditionsOf, rangeOf } from '../list.ts';
import { hasPaid } from '../orders.ts';
import type { Owner } from '../payments/payments.ts';

/** A link that is made. */
export interface NewLink extends Omit<
  Link,
  'status' | 'paymentId' | 'createdAt' | 'paidAt' | 'disabledAt'
> {
  /** The admin who asks for it; null: an application does. */
  askedBy: Person | null;
  /** SHA-256 of the application's idempotency key, and of the request. */
  key?: { hash: Buffer; fingerprint: Buffer } | null;
}

/** A link as it was stored for a key, with the request that made it. */
export type KeyedLink = Link & { fingerprint: Buffer };

/** A link for its page, with what its application's payments begin with. */
export interface PayableLink extends Link, PaidTo {
  isApplicationDisabled: boolean;
  /** Its time is over, by the clock of Postgres. */
  isOver: boolean;
  /** The payments that have begun, and the newest one; null: none has. */
  tries: number;
  lastTry: { id: string; status: Status } | null;
  /** A payment that this link has not begun has paid the order. */
  isOrderPaid: boolean;
  defaultGateway: Gateway;
  fallbackGateways: string[];
}

/** The columns of {@link Link}, of links `l`. */
export const selectLink = (sql: Queries): Fragment => sql`
  l.id, l.application, l.test, l.order_id as "orderId", l.status, l.amount, l.currency, l.description, l.locale,
  l.payment_id as "paymentId", l.expires_at as "expiresAt", l.created_at as "createdAt", l.paid_at as "paidAt",
  l.disabled_at as "disabledAt"`;

/** A link `l` that waits for a second admin. It may end so. */
const isHeld = (sql: Queries): Fragment => sql`(l.to_confirm and l.status = 'open')`;

/** The links of applications. */
export const createLinks = (sql: Queries) => ({
  /** @returns undefined if the application has used the key before; then nothing is written */
  insert: ({ askedBy, key = null, ...link }: NewLink) =>
    first(sql<Link[]>`
      insert into links as l (id, application, test, order_id, amount, currency, description, locale, expires_at,
        requested_by, asked_by, asked_via, key_hash, fingerprint)
      values (${link.id}, ${link.application}, ${link.test}, ${link.orderId}, ${link.amount}, ${link.currency},
        ${link.description}, ${link.locale}, ${link.expiresAt}, ${askedBy ? 'admin' : 'application'},
        ${askedBy?.actor ?? null}, ${askedBy?.via ?? null}, ${key?.hash ?? null}, ${key?.fingerprint ?? null})
      on conflict (application, test, key_hash) do nothing
      returning ${selectLink(sql)}`),

  /** The link that an application made with a key. */
  getByKey: ({ application, test }: Owner, hash: Buffer) =>
    first(sql<KeyedLink[]>`
      select ${selectLink(sql)}, l.fingerprint from links l
      where l.application = ${application} and l.test = ${test} and l.key_hash = ${hash}`),

  /** @returns undefined if the link does not exist, has another owner, or waits for a second admin */
  get: (id: string, { application, test }: Owner) =>
    first(sql<Link[]>`
      select ${selectLink(sql)} from links l
      where l.id = ${id} and l.application = ${application} and l.test = ${test} and not ${isHeld(sql)}`),

  /** Newest first. */
  async list(
    { from, to, ...filter }: Owner & Filters<ListLinks>,
    { after, limit }: ListPage,
  ): Promise<Link[]> {
    return sql<Link[]>`
      select ${selectLink(sql)} from links l
      where not ${isHeld(sql)} ${conditionsOf(sql, filter, {
        application: (application) => sql`l.application = ${application}`,
        test: (test) => sql`l.test = ${test}`,
        orderId: (id) => sql`l.order_id = ${id}`,
        status: (status) => sql`l.status = ${status}`,
      })} ${rangeOf(sql, { from, to }, after, { at: sql`l.created_at`, id: sql`l.id` })}
      order by l.created_at desc, l.id desc limit ${limit}`;
  },

  /** A disabled link begins no further payment. A payment that has begun goes on. @returns whether it was open */
  disable: (id: string) =>
    changesOne(sql`
      update links set status = 'disabled', disabled_at = now() where id = ${id} and status = 'open'`),

  /** For its page: whoever has the id may read it, but for one that a second admin has not confirmed. */
  getForPayer: (id: string) =>
    first(sql<PayableLink[]>`
      select ${selectLink(sql)}, ${selectPaidTo(sql)}, a.status = 'disabled' as "isApplicationDisabled",
        l.expires_at <= now() as "isOver", a.fallback_gateways as "fallbackGateways",
        json_build_object('slug', g.slug, 'driver', g.driver, 'kind', g.kind, 'enabled', g.enabled) as "defaultGateway",
        (select count(*)::int from payments p where p.link_id = l.id) as tries,
        (select json_build_object('id', p.id, 'status', p.status) from payments p
          where p.link_id = l.id order by p.created_at desc limit 1) as "lastTry",
        exists (
          select from payments q join gateways h on h.slug = q.gateway
          where q.application = l.application and q.test = l.test and q.order_id = l.order_id and ${hasPaid(sql)}
        ) as "isOrderPaid"
      from links l join applications a on a.slug = l.application join gateways g on g.slug = a.default_gateway
      where l.id = ${id} and not l.to_confirm`),

  /** Until the transaction ends nobody else begins a payment of the link, or ends it. */
  async lock(id: string): Promise<void> {
    await sql`select from links where id = ${id} for update`;
  },
});
export type Links = ReturnType<typeof createLinks>;
