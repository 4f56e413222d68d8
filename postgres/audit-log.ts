import type { Queries } from './driver/sql.ts';

/** The state of a subject in the audit log: names, states, URLs; never a secret. */
export type AuditFacts = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>;

export interface NewAuditRecord {
  /** The name of the admin, or `service`. */
  actor: string;
  /** For example `application.disable`. */
  action: string;
  /** For example `application:shop`. */
  subject: string;
  before: AuditFacts | null;
  after: AuditFacts | null;
  /** The reason that the admin gave. */
  reason: string | null;
  /** How a person made the change; null for the service. */
  via: Via | null;
}

export type Via = 'cli' | 'console';

export interface AuditRecord extends NewAuditRecord {
  id: number;
  at: Date;
  /** The payments of a duplicate that are still there: of its order, or with its tracking code. */
  payments: number | null;
}

export interface AuditFilter {
  subject: string | null;
  actor?: string | null;
  action?: string | null;
  /** Only records with a smaller id. */
  before?: number | null;
  limit: number;
}

/** The table is append-only: a trigger rejects updates and deletes. */
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
   * Records the first duplicate of an order or of a tracking code. A unique index drops the further ones: an
   * application may repeat them without end, and the table keeps everything.
   */
  async insertDuplicate(
    action: 'payment.duplicate' | 'payment.duplicate_tracking_code',
    paymentId: string,
    facts: AuditFacts,
  ): Promise<void> {
    await sql`
      insert into audit_log (actor, action, subject, after)
      values ('service', ${action}, ${`payment:${paymentId}`}, ${sql.json(facts)})
      on conflict do nothing`;
  },

  /** Newest first. */
  async list({
    subject,
    actor = null,
    action = null,
    before = null,
    limit,
  }: AuditFilter): Promise<AuditRecord[]> {
    return sql<AuditRecord[]>`
      select a.id, a.at, a.actor, a.action, a.subject, a.before, a.after, a.reason,
        a.via,
        case a.action
          when 'payment.duplicate' then (
            select count(*) from payments q
            where q.application = a.after->>'application' and q.test = (a.after->>'test')::boolean
              and q.order_id = a.after->>'order_id' and q.status = 'paid')
          when 'payment.duplicate_tracking_code' then (
            select count(*) from payments q
            where q.gateway = a.after->>'gateway' and q.tracking_code = a.after->>'tracking_code')
        end as payments
      from audit_log a
      where true
        ${subject === null ? sql`` : sql`and a.subject = ${subject}`}
        ${actor === null ? sql`` : sql`and a.actor = ${actor}`}
        ${action === null ? sql`` : sql`and a.action = ${action}`}
        ${before === null ? sql`` : sql`and a.id < ${before}`}
      order by a.id desc limit ${limit}`;
  },
});
