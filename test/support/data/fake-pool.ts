import type { Sql } from '../../../postgres/driver/sql.ts';

/** A pool that gives every query the same result. */
export const fakePool = (answer: () => Promise<unknown>): Sql =>
  // The wrappers only call it and end it.
  Object.assign(() => answer(), { end: async () => {} }) as unknown as Sql;
