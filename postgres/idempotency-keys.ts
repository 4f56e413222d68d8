import type { Sql } from './connection.ts';
import type { IdempotencyRecord, Owner } from './payments.ts';

export const createIdempotencyKeys = (sql: Sql) => ({
  /** What a key answered before; undefined when it is unknown or has expired. */
  async get(
    { application, test }: Owner,
    route: string,
    key: string,
  ): Promise<Omit<IdempotencyRecord, 'route' | 'key' | 'expiresAt'> | undefined> {
    const [row] = await sql<
      { fingerprint: Buffer; status: number; location: string; body: string }[]
    >`
      select fingerprint, status, location, body from idempotency_keys
      where application = ${application} and test = ${test} and route = ${route} and key = ${key}
        and expires_at > now()`;
    return row;
  },

  /** @returns how many expired records were dropped, at most `limit`. */
  async dropExpired(limit: number): Promise<number> {
    const { count } = await sql`
      delete from idempotency_keys where ctid in (
        select ctid from idempotency_keys where expires_at <= now() limit ${limit})
        -- Once more, of the row as it is once it is locked: a create may just have used the key anew.
        and expires_at <= now()`;
    return count;
  },
});
export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;
