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
}

export interface AuditRecord extends NewAuditRecord {
  id: number;
  at: Date;
}

export interface AuditFilter {
  subject: string | null;
  limit: number;
}

/** The table is append-only: a trigger rejects updates and deletes. */
export const createAuditLog = (sql: Queries) => ({
  async insert(record: NewAuditRecord): Promise<void> {
    await sql`
      insert into audit_log (actor, action, subject, before, after, reason)
      values (${record.actor}, ${record.action}, ${record.subject},
        ${record.before && sql.json(record.before)}, ${record.after && sql.json(record.after)},
        ${record.reason})`;
  },

  /** Newest first. */
  async list({ subject, limit }: AuditFilter): Promise<AuditRecord[]> {
    return sql<AuditRecord[]>`
      select id, at, actor, action, subject, before, after, reason from audit_log
      where ${subject}::text is null or subject = ${subject}
      order by id desc limit ${limit}`;
  },
});
