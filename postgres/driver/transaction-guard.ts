import { isConnectionEnded } from './error-codes.ts';
import { interceptQueries } from './intercept-queries.ts';
import type { BeginArguments, Pool, Queries, Sql } from './sql.ts';

/*
 * Symptom: when a connection closes inside `begin`, postgres.js still sends the next query, `rollback` or
 * `commit`. It writes to a null socket, which no caller can catch, and the process exits; or, if the
 * connection object has reconnected, the query runs inside another transaction.
 * Upstream: https://github.com/porsager/postgres/issues/1208, …/issues/1216; fix in …/pull/1215.
 * Remove when: postgres.js rejects everything in a transaction after its connection has closed, also after
 * a reset. test/integration/postgres/driver/transaction-guard.test.ts must pass without this file.
 */

/**
 * `begin` that sends nothing more on a connection that closed inside the transaction. Later queries of
 * the transaction reject with the error that closed it, and so does `begin` itself.
 */
export const guardTransactions =
  (begin: Pool['begin']): Sql['begin'] =>
  async <T>(...args: BeginArguments<T>): Promise<T> => {
    const [options, work] = args.length === 2 ? args : (['', args[0]] as const);
    let failure: unknown;
    const note = (error: unknown) => {
      if (isConnectionEnded(error)) failure = error;
    };
    const guard = (tx: Queries) =>
      interceptQueries(tx, (run) => {
        if (failure !== undefined) return Promise.reject(failure);
        const result = run();
        result.catch(note);
        return result;
      });
    const guardedWork = async (tx: Queries) => {
      try {
        return await work(guard(tx));
      } finally {
        // Never settles, so postgres.js sends no commit or rollback: `begin` rejects by the closed socket.
        if (failure !== undefined) await new Promise(() => {});
      }
    };
    try {
      // postgres.js unwraps only arrays of promises, and `work` returns a promise.
      return (await begin(options, guardedWork)) as T;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
