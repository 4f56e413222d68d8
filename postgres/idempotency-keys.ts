import type { Queries } from './driver/sql.ts';
import type { IdempotencyRecord, Owner } from './payments.ts';

/** What is answered again, where the body is the same. */
export type StoredAnswer = Pick<IdempotencyRecord, 'fingerprint' | 'location' | 'body'>;

export const createIdempotencyKeys = (sql: Queries) => ({
  /** What a key answered before; undefined when it is unknown or has expired. */
  async get(
    { application, test }: Owner,
    route: string,
    key: string,
  ): Promise<StoredAnswer | undefined> {
    const [row] = await sql<StoredAnswer[]>`
      select fingerprint, location, body from idempotency_keys
      where application = ${application} and test = ${test} and route = ${route} and key = ${key}
        and expires_at > now()`;
    return row;
  },

  /** @returns how many expired records were dropped, at most `limit`. */
  async deleteExpired(limit: number): Promise<number> {
    const { count } = await sql`
      delete from idempotency_keys where ctid in (
        select ctid from idempotency_keys where expires_at <= now() limit ${limit})
        -- Once more, of the row as it is once it is locked: a create may just have used the key anew.
        and expires_at <= now()`;
    return count;
  },
});
export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;
