import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListLinks } from '../../contract/list-links.ts';
import type { Link } from '../../contract/link.ts';
import type { GatewayKind } from '../../contract/gateway-account.ts';
import type { Person } from '../audit-log.ts';
import { type PaidTo, selectPaidTo } from '../applications/applications.ts';
import { changesOne, first, type Fragment, type Queries } from '../driver/sql.ts';
import type { Gateway } from '../gateways/gateways.ts';
import { conditionsOf, rangeOf } from '../list.ts';
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
  lastTry: { id: string; status: string } | null;
  /** A payment that this link has not begun has paid the order. */
  isOrderPaid: boolean;
  defaultGateway: Gateway;
  fallbackGateways: string[];
}

type PayableRow = Omit<PayableLink, 'defaultGateway' | 'lastTry'> & {
  gateway: string;
  driver: string;
  kind: GatewayKind;
  enabled: boolean;
  tryId: string | null;
  tryStatus: string | null;
};

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

  /**
   * For its page: whoever has the id may read it, but for one that a second admin has not confirmed.
   * @param options.lock until the transaction ends nobody else begins a payment of it
   */
  async getForPayer(id: string, { lock = false } = {}): Promise<PayableLink | undefined> {
    const [row] = await sql<PayableRow[]>`
      select ${selectLink(sql)}, ${selectPaidTo(sql)}, a.status = 'disabled' as "isApplicationDisabled",
        l.expires_at <= now() as "isOver", a.fallback_gateways as "fallbackGateways",
        g.slug as gateway, g.driver, g.kind, g.enabled, t.id as "tryId", t.status as "tryStatus",
        (select count(*)::int from payments p where p.link_id = l.id) as tries,
        exists (
          select from payments q join gateways h on h.slug = q.gateway
          where q.application = l.application and q.test = l.test and q.order_id = l.order_id
            and q.status = 'paid' and (q.test or h.kind = 'live') and q.amount_refunded + q.amount_lost < q.amount
        ) as "isOrderPaid"
      from links l join applications a on a.slug = l.application join gateways g on g.slug = a.default_gateway
      left join lateral (
        select p.id, p.status from payments p where p.link_id = l.id order by p.created_at desc limit 1) t on true
      where l.id = ${id} and not l.to_confirm ${lock ? sql`for update of l` : sql``}`;
    if (!row) return undefined;
    const { gateway, driver, kind, enabled, tryId, tryStatus, ...link } = row;
    return {
      ...link,
      defaultGateway: { slug: gateway, driver, kind, enabled },
      lastTry: tryId !== null && tryStatus !== null ? { id: tryId, status: tryStatus } : null,
    };
  },
});
export type Links = ReturnType<typeof createLinks>;
