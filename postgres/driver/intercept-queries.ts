import type { Queries } from './sql.ts';

/*
 * Symptom: postgres.js has no hook that runs around a query.
 * Upstream: no issue; the options `debug` and `onexecute` see a query start, never its result.
 * Remove when: postgres.js reports the start and the result of each query, and the other files of this
 * folder are gone.
 */

type Intercept = (run: () => Promise<unknown>) => Promise<unknown>;

/**
 * Wraps a pool or transaction so that `intercept` sees every query.
 * @param intercept runs the query, or does not, and returns the promise that the caller awaits
 */
export const interceptQueries = <Target extends Queries>(
  sql: Target,
  intercept: Intercept,
): Target =>
  new Proxy(sql, {
    apply(target, self, args: unknown[]) {
      const query: unknown = Reflect.apply(target, self, args);
      if (query instanceof Promise) interceptThen(query, intercept);
      return query;
    },
  });

/** A query runs when it is awaited. A fragment of another query is not awaited, so it is not intercepted. */
const interceptThen = (query: Promise<unknown>, intercept: Intercept) => {
  const run = query.then.bind(query);
  // oxlint-disable-next-line unicorn/no-thenable -- The query is a promise already.
  query.then = (onResult, onError) =>
    intercept(() => run((result) => result)).then(onResult, onError);
  // These call `then`. postgres.js's own would run the query before that.
  query.catch = Promise.prototype.catch;
  query.finally = Promise.prototype.finally;
};
