import { createAuditLog, type AuditFacts, type Via } from '../../postgres/audit-log.ts';
import type { Queries, Sql } from '../../postgres/driver/sql.ts';

/** The operation is not possible in the current state. The message says why. */
export class Refusal extends Error {}

/** There is no such thing. */
export class NotFound extends Refusal {}

export interface Change {
  /** E.g. `application.disable`. */
  action: string;
  /** The changed thing, e.g. `application:shop`. */
  subject: string;
  /** The admin's own words. */
  reason: string | null;
}

export interface Changed {
  /** Null for a new thing. */
  before: AuditFacts | null;
  /** Null for a removed thing. */
  after: AuditFacts | null;
}

/** Makes a change and its record in the audit log in one transaction. @returns the result of the work, if any */
export interface MakeChange {
  <T>(change: Change, work: (tx: Queries) => Promise<Changed & { result: T }>): Promise<T>;
  (change: Change, work: (tx: Queries) => Promise<Changed>): Promise<void>;
}

export const createChange = ({ sql, actor, via }: { sql: Sql; actor: string; via: Via }) => {
  const makeChange = (
    change: Change,
    work: (tx: Queries) => Promise<Changed & { result?: unknown }>,
  ) =>
    sql.begin(async (tx) => {
      const { before, after, result } = await work(tx);
      await createAuditLog(tx).insert({ ...change, actor, via, before, after });
      return result;
    });
  return makeChange as MakeChange; // The types of one arrow cannot tell work with a result from work without.
};
