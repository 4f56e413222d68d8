import type { Sql } from './connection.ts';

/**
 * The same pool, with something done around each statement.
 * @param around gets the statement once it runs, and gives back what its caller waits for
 */
export const interceptQueries = (
  sql: Sql,
  around: (statement: Promise<unknown>) => Promise<unknown>,
): Sql =>
  new Proxy(sql, {
    apply(target, self, args: unknown[]) {
      const made: unknown = Reflect.apply(target as unknown as () => unknown, self, args);
      // A piece of another statement is never waited for, so the watch begins with `then`.
      if (made instanceof Promise) {
        const run = made.then.bind(made) as Promise<unknown>['then'];
        // oxlint-disable-next-line unicorn/no-thenable -- It is one already, and runs when it is waited for.
        made.then = ((...handlers: Parameters<typeof run>) =>
          around(run((value) => value)).then(...handlers)) as typeof made.then;
      }
      return made;
    },
  });
