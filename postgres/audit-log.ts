import { first, type Queries } from './driver/sql.ts';
import { hasPaid } from './orders.ts';

/** The state of a subject in the audit log: names, states, URLs; never a secret. */
export type AuditFacts = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>;

/** The actions, by the kind of the thing. admin/operations/labels.ts has the words. */
export type AuditAction =
  | `account_difference.${'explain' | 'mend' | 'reopen'}`
  | `application.${'cancel_refunds' | 'create' | 'disable' | 'enable' | 'refund_limit' | 'update'}`
  | `console.${'account' | 'add' | 'link' | 'login' | 'logout' | 'refuse_login' | 'remove'}`
  | `delivery.${'replay' | 'replay_many' | 'replay_stop'}`
  | `gateway.${'account' | 'add' | 'credentials' | 'disable' | 'enable'}`
  | `link.${'approve_above' | 'confirm' | 'create' | 'disable'}`
  | `notice.${'add' | 'remove'}`
  | `passkey.${'add' | 'remove'}`
  | `payment.${'cancel' | 'checked' | 'duplicate' | 'duplicate_tracking_code' | 'heal' | 'heal_late_payment'}`
  | `payment.${'order_checked' | 'release_order' | 'skip_time' | 'verify'}`
  | `payment.late_payment_${'by_hand' | 'found' | 'returns' | 'reversed'}`
  | `refund.${'approve_above' | 'cancel' | 'confirm' | 'create' | 'found_at_gateway' | 'refuse' | 'release' | 'settle'}`
  | `refund_rule.${'change' | 'confirm' | 'refuse'}`
  | 'retention.purge'
  | `secret.${'reseal' | 'retire' | 'rotate'}`
  | `token.${'confirm' | 'issue' | 'replace' | 'revoke'}`
  | 'webhook.test';

/** The word of a subject before its colon. `retention` has nothing after it. */
export type SubjectKind =
  | 'account_difference'
  | 'application'
  | 'console'
  | 'currency'
  | 'gateway'
  | 'key'
  | 'link'
  | 'payment'
  | 'person'
  | 'refund'
  | 'replay'
  | 'retention';

export interface NewAuditRecord {
  /** The name of the admin, or `service`. */
  actor: string;
  /** For example `application.disable`. */
  action: AuditAction;
  /** For example `application:shop`. */
  subject: string;
  before: AuditFacts | null;
  after: AuditFacts | null;
  /** The reason that the admin gave. */
  reason: string | null;
  /** The way in which a person made the change; null for the service. */
  via: Via | null;
}

export type Via = 'cli' | 'console';

/** An admin, and the surface that says so. */
export interface Person {
  actor: string;
  via: Via;
}

export interface AuditRecord extends NewAuditRecord {
  id: number;
  at: Date;
  /** The payments of a duplicate that are still there: those that have paid its order, or have its tracking code. */
  payments: number | null;
}

export interface AuditFilter {
  /** The thing. A payment has the records of its refunds, too. */
  subject: string | null;
  actor?: string | null;
  action?: string | null;
  /** Actions that the list leaves out. */
  hidden?: readonly AuditAction[];
  /** A part of the names, the reason or the facts of a record, or one of these actions. */
  text?: { part: string; actions: readonly string[] } | null;
  from?: Date | null;
  to?: Date | null;
  /** Only records with a smaller id. */
  before?: number | null;
  limit: number;
}

/** A list that looks for a part of a text, or leaves actions out, stops here. */
const lookedThrough = 20_000;
const maxId = Number.MAX_SAFE_INTEGER;
/** Transactions that overlap write few records, so at most so many are not in the order of their times. */
const disordered = 1_000;

/** A record of the chain. */
export interface ChainEnd {
  id: number;
  /** In hexadecimal digits. It stands for this record and all before it. */
  hash: string;
}

export interface VerifiedChain {
  /** The last record up to which the chain is whole. */
  last: ChainEnd;
  /** The first record that does not follow from the one before it. */
  brokenAt: number | null;
}

const chainPage = 10_000;

/** The newest records of a filter, but for what no index has. */
const newest = (
  sql: Queries,
  { subject, actor = null, from = null, to = null, before = null }: AuditFilter,
) => {
  const payment = subject?.startsWith('payment:') ? subject.slice('payment:'.length) : null;
  const range = sql`
    ${actor === null ? sql`` : sql`and a.actor = ${actor}`}
    ${before === null ? sql`` : sql`and a.id < ${before}`}
    ${
      to === null
        ? sql``
        : sql`and a.id < coalesce((
            select t.id from audit_log t where t.at >= ${to} order by t.at limit 1) + ${disordered}::int, ${maxId}::bigint)`
    }
    ${
      from === null
        ? sql``
        : sql`and a.id > coalesce((
            select t.id from audit_log t where t.at < ${from} order by t.at desc limit 1) - ${disordered}::int, 0)`
    }
    order by a.id desc limit ${lookedThrough}`;
  if (subject === null) return sql`select a.* from audit_log a where true ${range}`;
  return sql`
    select a.* from (
      select ${subject}::text as subject
      ${payment === null ? sql`` : sql`union all select 'refund:' || r.id from refunds r where r.payment_id = ${payment}`}
    ) as s cross join lateral (select a.* from audit_log a where a.subject = s.subject ${range}) as a
    order by a.id desc limit ${lookedThrough}`;
};

/** The table is append-only: a trigger rejects updates and deletes, and lets a purge empty old reasons. */
export const createAuditLog = (sql: Queries) => ({
  async insert(record: NewAuditRecord): Promise<void> {
    await sql`
      insert into audit_log (actor, action, subject, before, after, reason
        ${record.via === null ? sql`` : sql`, via`})
      values (${record.actor}, ${record.action}, ${record.subject},
        ${record.before && sql.json(record.before)}, ${record.after && sql.json(record.after)},
        ${record.reason} ${record.via === null ? sql`` : sql`, ${record.via}`})`;
  },

  /**
   * Records the first duplicate of a payment that has paid its order, or of a tracking code. A unique index drops the further ones: an
   * application may repeat them without end, and the table keeps everything.
   */
  async insertDuplicate(
    action: Extract<AuditAction, `payment.duplicate${string}`>,
    paymentId: string,
    facts: AuditFacts,
  ): Promise<void> {
    await sql`
      insert into audit_log (actor, action, subject, after)
      values ('service', ${action}, ${`payment:${paymentId}`}, ${sql.json(facts)})
      on conflict do nothing`;
  },

  /**
   * Records the first refused login of a way in an hour: strangers may try without end, and the table keeps everything.
   * The further ones do not wait for the chain. A unique index drops those at the same moment.
   */
  async insertRefusedLogin(login: string): Promise<void> {
    await sql`
      insert into audit_log (actor, action, subject, after, via)
      select 'nobody', 'console.refuse_login', 'console:login',
        jsonb_build_object('login', ${login}::text, 'hour', hour), 'console'
      from to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24"Z"') as hour
      where not exists (
        select from audit_log
        where action = 'console.refuse_login' and after->>'login' = ${login} and after->>'hour' = hour)
      on conflict do nothing`;
  },

  /**
   * Calculates the hash of each record again. It finds changed, inserted and removed records, but those at the end:
   * for them an admin notes the last record elsewhere.
   */
  async verify(): Promise<VerifiedChain> {
    let last: ChainEnd = { id: 0, hash: '' };
    for (;;) {
      const rows = await sql<(ChainEnd & { whole: boolean })[]>`
        select id, encode(hash, 'hex') as hash,
          id = lag(id, 1, ${last.id}::bigint) over by_id + 1
            and hash = audit_hash(lag(hash, 1, decode(${last.hash}, 'hex')) over by_id, a)
            -- A purge has emptied reason and salt; without a reason there never was a row.
            and coalesce((
              select case when r.salt is null then a.reason is null
                else coalesce(reason_hash(r.salt, a.reason) = r.hash, false) end
              from audit_reasons r where r.record = a.id), a.reason is null) as whole
        from audit_log a where id > ${last.id}
        window by_id as (order by id) order by id limit ${chainPage}`;
      const broken = rows.find(({ whole }) => !whole);
      if (broken) return { last, brokenAt: broken.id };
      const end = rows.at(-1);
      if (!end) return { last, brokenAt: null };
      last = { id: end.id, hash: end.hash };
    }
  },

  /** Whether the log has this record. */
  async has({ id, hash }: ChainEnd): Promise<boolean> {
    const rows = await sql`
      select from audit_log where id = ${id} and hash = decode(${hash}, 'hex')`;
    return rows.length > 0;
  },

  /** Newest first. It ends before it has looked at every record where {@link searchedBackTo} says so. */
  async list(filter: AuditFilter): Promise<AuditRecord[]> {
    const { action = null, hidden = [], text = null, from = null, to = null, limit } = filter;
    return sql<AuditRecord[]>`
      select a.id, a.at, a.actor, a.action, a.subject, a.before, a.after, a.reason,
        a.via,
        case a.action
          when 'payment.duplicate' then (
            select count(*) from payments q join gateways h on h.slug = q.gateway
            where q.application = a.after->>'application' and q.test = (a.after->>'test')::boolean
              and q.order_id = a.after->>'order_id' and ${hasPaid(sql)})
          when 'payment.duplicate_tracking_code' then (
            select count(*) from payments q
            where q.gateway = a.after->>'gateway' and q.tracking_code = a.after->>'tracking_code')
        end as payments
      from (${newest(sql, filter)}) as a
      where true
        ${from === null ? sql`` : sql`and a.at >= ${from}`}
        ${to === null ? sql`` : sql`and a.at < ${to}`}
        ${action === null ? sql`` : sql`and a.action = ${action}`}
        ${hidden.length === 0 ? sql`` : sql`and a.action <> all(${[...hidden]}::text[])`}
        ${
          text === null
            ? sql``
            : sql`and (a.action = any(${[...text.actions]}::text[]) or strpos(lower(concat_ws(' ',
                a.actor, a.action, a.subject, a.reason, a.before, a.after)), lower(${text.part})) > 0)`
        }
      order by a.id desc limit ${limit}`;
  },

  /** The last record that the list has looked at; undefined: it has seen all. */
  searchedBackTo: (filter: AuditFilter) =>
    first(sql<Pick<AuditRecord, 'id' | 'at'>[]>`
      select a.id, a.at from (${newest(sql, filter)}) as a
      order by a.id desc offset ${lookedThrough - 1} limit 1`),
});
