import type { Sql } from './connection.ts';
import { interceptQueries } from './intercept-queries.ts';

type Work = (tx: Sql) => unknown;
type Begin = (...args: [Work] | [string, Work]) => Promise<unknown>;

/** An open connection is no more. */
export const lostCodes: ReadonlySet<string> = new Set([
  ...['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH'],
]);
export const isLost = (error: unknown): boolean => hasCode(error, lostCodes);
export const hasCode = (error: unknown, codes: ReadonlySet<string>): boolean =>
  error instanceof Error && 'code' in error && codes.has(String(error.code));
/** As the library says it of a connection that ends while it waits for an answer. */
export const connectionClosed = (message: string): Error =>
  Object.assign(new Error(message), { code: 'CONNECTION_CLOSED' });
/** With a fatal error Postgres closes the connection. */
const isLoss = (error: unknown): boolean =>
  isLost(error) || (error instanceof Error && 'severity' in error && error.severity === 'FATAL');

/**
 * `begin` that sends nothing more on a connection that was lost within the transaction, be it the next
 * statement, `commit` or `rollback`: the library would write to no socket, which nobody catches, and the
 * process would end. It does reject `begin` once the connection is closed.
 */
export const withinConnection = (of: Sql['begin']): Sql['begin'] => {
  const begin = of as unknown as Begin;
  const within: Begin = async (...args) => {
    const work = args[args.length - 1] as Work;
    let lost: unknown;
    const note = (error: unknown) => {
      if (isLoss(error)) lost = error;
    };
    const guarded = async (tx: Sql) => {
      try {
        return await work(refusing(watching(tx, note), () => lost));
      } finally {
        // For ever: all that waits for it has been told by then.
        if (lost !== undefined) await new Promise(() => {});
      }
    };
    try {
      return await (args.length === 1 ? begin(guarded) : begin(args[0], guarded));
    } catch (error) {
      lost = error;
      throw error;
    }
  };
  return within as unknown as Sql['begin'];
};

const watching = (tx: Sql, note: (error: unknown) => void) =>
  interceptQueries(tx, (statement) => {
    statement.catch(note);
    return statement;
  });

/** Fails statements once there is a reason. Their pieces, which are no templates, are made as ever. */
const refusing = (tx: Sql, reason: () => unknown): Sql =>
  new Proxy(tx, {
    apply(target, self, args: unknown[]) {
      const error = reason();
      const isStatement = Array.isArray(args[0]) && 'raw' in args[0];
      if (error !== undefined && isStatement) return Promise.reject(error);
      return Reflect.apply(target as unknown as () => unknown, self, args);
    },
  });
