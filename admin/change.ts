import { createAuditLog, type AuditFacts } from '../postgres/audit-log.ts';
import type { Queries, Sql } from '../postgres/driver/sql.ts';

/** What an admin asked for cannot be done as things stand; the message says why. */
export class Refusal extends Error {}

export interface Change {
  /** What is done, e.g. `application.disable`. */
  action: string;
  /** To what, e.g. `application:shop`. */
  subject: string;
  /** Why, in the admin's words. */
  reason: string | null;
}

export interface Changed<T> {
  result: T;
  /** Null where there was nothing. */
  before: AuditFacts | null;
  /** Null where nothing is left. */
  after: AuditFacts | null;
}

export interface Deps {
  sql: Sql;
  /** Who. */
  actor: string;
}

/** Does something and writes it into the audit log, in one transaction: both or neither. */
export const createChange =
  ({ sql, actor }: Deps) =>
  async <T>(change: Change, work: (tx: Queries) => Promise<Changed<T>>): Promise<T> => {
    let done: Changed<T> | undefined;
    await sql.begin(async (tx) => {
      done = await work(tx);
      const { before, after } = done;
      await createAuditLog(tx).insert({ ...change, actor, before, after });
    });
    if (!done) throw new Error('The transaction ended without its work');
    return done.result;
  };
export type MakeChange = ReturnType<typeof createChange>;
