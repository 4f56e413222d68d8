import {
  createAuditLog,
  type AuditAction,
  type AuditFacts,
  type Via,
} from '../../postgres/audit-log.ts';
import type { Queries, Sql } from '../../postgres/driver/sql.ts';

/** The operation is not possible in the current state. The message says why. */
export class Refusal extends Error {}

/** There is no such thing. */
export class NotFound extends Refusal {}

/** Whether a text looks like a token or a secret: ours, or the key of a gateway. */
export const hasSecret = (text: string): boolean =>
  /svc_(?:live|test)_|whsec_|\b[sr]k_(?:live|test)_/.test(text);

const digitsOf = (text: string): number[] =>
  // Arabic and Persian digits, too.
  Array.from(
    text.matchAll(/\d|[\u0660-\u0669\u06f0-\u06f9]/g),
    ([digit]) => digit.charCodeAt(0) & 15,
  );

const isCardNumber = (digits: readonly number[]): boolean => {
  const sum = digits.toReversed().reduce((total, digit, at) => {
    const counted = at % 2 === 0 ? digit : digit * 2;
    return total + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return sum % 10 === 0 && digits.some((digit) => digit > 0);
};

/** Whether a text has 14 to 19 digits, in one piece or in groups, with the check digit of a card number. */
export const hasCardNumber = (text: string): boolean =>
  Array.from(
    text.matchAll(/(?<![\p{L}\p{Nd}_])\p{Nd}(?:[ \u00a0.-]?\p{Nd}){13,18}(?![\p{L}\p{Nd}_])/gu),
  ).some(([found]) => isCardNumber(digitsOf(found)));

/** Why the log cannot keep the words of an admin; undefined: it can. Only a purge removes them. */
export const problemOfReason = (reason: string): string | undefined => {
  if (reason.length > reasonMax) return `The reason has at most ${reasonMax} characters.`;
  if (hasSecret(reason))
    return 'The reason holds a token or a secret, which the audit log would keep. Nothing was recorded.';
  if (hasCardNumber(reason))
    return 'The reason holds what looks like a card number, which the audit log would keep: write its last four digits. Nothing was recorded.';
  return undefined;
};

export const reasonMax = 500;

export interface Change {
  /** E.g. `application.disable`. */
  action: AuditAction;
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
  const makeChange = async (
    change: Change,
    work: (tx: Queries) => Promise<Changed & { result?: unknown }>,
  ) => {
    const problem = change.reason === null ? undefined : problemOfReason(change.reason);
    if (problem !== undefined) throw new Refusal(problem);
    return sql.begin(async (tx) => {
      const { before, after, result } = await work(tx);
      await createAuditLog(tx).insert({ ...change, actor, via, before, after });
      return result;
    });
  };
  return makeChange as MakeChange; // The types of one arrow cannot tell work with a result from work without.
};

/**
 * Does work that no transaction can take back with its record, as in Temporal. The record of the change is there first, so
 * nothing is done without one; a second record says it if the work fails.
 * @returns the result of the work
 */
export const recordFailure = async <T>(
  makeChange: MakeChange,
  change: Change,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const failed = makeChange(change, async () => ({ before: null, after: { failed: true } }));
    // An admin can repair the cause of the failed work.
    await failed.catch(() => {});
    throw error;
  }
};

/** @returns null if it is refused, e.g. for a form that is not filled in: a later step says why */
export const unlessRefused = async <T>(work: () => Promise<T>): Promise<T | null> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};
