import { interceptQueries } from './intercept-queries.ts';
import type { Queries, Sql } from './sql.ts';

/*
 * Symptom: a query never settles when Postgres stops answering without closing its connections: the
 * network drops everything, or the server hangs.
 * Upstream: https://github.com/porsager/postgres/issues/1089 (no client-side timeout).
 * Remove when: a query can have a timeout that tells a silent server from a slow query.
 *
 * There are two timeouts. This one bounds how long a caller waits, including the time a query waits
 * for a connection, and it must not fail slow queries. read-timeout.ts frees the connections. Neither
 * can do the other's job: a query does not know its socket, and a socket does not know its callers.
 */

const patienceMs = 1_100;
const probeMs = 400;

/** Neither the query nor the probe was answered in time. The query may still be carried out. */
class NoAnswerError extends Error {
  readonly code = 'NO_ANSWER';
  override readonly name = 'NoAnswerError';
}

/**
 * Wraps a pool so that its queries fail within 2 seconds when Postgres does not answer at all. A slow
 * query continues for as long as the probe is answered.
 * @param probe a pool of its own, so that the probe never waits behind slow queries
 */
export const withQueryTimeout = (sql: Sql, probe: Queries): Sql => {
  let probing: Promise<boolean> | undefined;
  const answersProbe = () => {
    probing ??= succeedsWithin(probe`select 1`, probeMs).finally(() => {
      probing = undefined;
    });
    return probing;
  };

  const watch = (query: Promise<unknown>) =>
    new Promise<unknown>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let isSettled = false;
      const check = async () => {
        const answers = await answersProbe();
        if (isSettled) return;
        if (answers) timer = setTimeout(() => void check(), patienceMs);
        else reject(new NoAnswerError('Postgres does not answer'));
      };
      timer = setTimeout(() => void check(), patienceMs);
      const stop = () => {
        isSettled = true;
        clearTimeout(timer);
      };
      query.finally(stop).then(resolve, reject);
    });

  return interceptQueries(sql, (run) => watch(run()));
};

const succeedsWithin = (query: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    query
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
