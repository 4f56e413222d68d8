import type { Sql } from './connection.ts';
import { interceptQueries } from './intercept-queries.ts';

const patienceMs = 1_100;
const probeMs = 400;

/** Neither the statement nor the question whether Postgres is there was answered in time. */
class NoAnswerError extends Error {
  readonly code = 'NO_ANSWER';
  override readonly name = 'NoAnswerError';
}

/**
 * The same pool, whose statements fail within 2 seconds where Postgres does not answer at all: the
 * network loses everything, or the server hangs. A statement that is merely slow goes on, as long as
 * the probe, a pool of its own, gets an answer. What was sent may still be carried out.
 */
export const withQueryTimeout = (sql: Sql, probe: Sql): Sql => {
  let probing: Promise<boolean> | undefined;
  const isThere = () => {
    probing ??= within(probe`select 1`, probeMs).finally(() => {
      probing = undefined;
    });
    return probing;
  };

  const watch = (statement: Promise<unknown>) =>
    new Promise<unknown>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const look = async () => {
        timer = undefined;
        const there = await isThere();
        if (settled) return;
        if (there) timer = setTimeout(() => void look(), patienceMs);
        else reject(new NoAnswerError('Postgres does not answer'));
      };
      let settled = false;
      const settle = () => {
        settled = true;
        clearTimeout(timer);
      };
      timer = setTimeout(() => void look(), patienceMs);
      statement.finally(settle).then(resolve, reject);
    });

  return interceptQueries(sql, watch);
};

/** Whether it succeeds within the time. */
const within = (statement: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    statement
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
