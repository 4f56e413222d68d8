import { first, type Queries } from '../driver/sql.ts';
import { type IdempotencyRecord, keptUntil, type Owner } from './payments.ts';

/** The response that a repeated create with the same body gets. */
export type StoredResponse = Pick<IdempotencyRecord, 'fingerprint' | 'location' | 'body'>;

export const createIdempotencyKeys = (sql: Queries) => ({
  /** Undefined if the key is unknown or has expired. */
  get: ({ application, test }: Owner, route: string, key: string) =>
    first(sql<StoredResponse[]>`
      select fingerprint, location, body from idempotency_keys
      where application = ${application} and test = ${test} and route = ${route} and key = ${key}
        and expires_at > ${keptUntil(sql)}`),

  /** Deletes expired records. @returns how many, at most `limit` */
  async deleteExpired(limit: number): Promise<number> {
    const { count } = await sql`
      delete from idempotency_keys where ctid in (
        select ctid from idempotency_keys where expires_at <= ${keptUntil(sql)} limit ${limit})
        -- Checked again on the locked row: a create may just have reused the key.
        and expires_at <= ${keptUntil(sql)}`;
    return count;
  },
});
export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;
