import type { Queries } from './driver/sql.ts';

/** Facts as the log keeps them: names, states, URLs; never a secret. */
export type AuditFacts = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>;

export interface NewAuditRecord {
  /** Who. */
  actor: string;
  /** What was done, e.g. `application.disable`. */
  action: string;
  /** To what, e.g. `application:shop`. */
  subject: string;
  before: AuditFacts | null;
  after: AuditFacts | null;
  /** Why, in the admin's words. */
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

/** Only written and read: the table refuses every other statement. */
export const createAuditLog = (sql: Queries) => ({
  async insert(record: NewAuditRecord): Promise<void> {
    await sql`
      insert into audit_log (actor, action, subject, before, after, reason)
      values (${record.actor}, ${record.action}, ${record.subject},
        ${record.before && sql.json(record.before)}, ${record.after && sql.json(record.after)},
        ${record.reason})`;
  },

  /** The newest first. */
  async list({ subject, limit }: AuditFilter): Promise<AuditRecord[]> {
    return sql<AuditRecord[]>`
      select id, at, actor, action, subject, before, after, reason from audit_log
      where ${subject}::text is null or subject = ${subject}
      order by id desc limit ${limit}`;
  },
});
