import type { AccountDay } from '../contract/movement.ts';
import type { Queries } from './driver/sql.ts';

/** No statement may take longer than 10 s. The size is part of the hash. */
const movementsAtOnce = 10_000;

/** The hash of a day's movements. */
export interface DayHash {
  /** Hexadecimal. */
  hash: string;
  movements: number;
}

/** Calculates the hash of a day. It covers the hash of the day before, and every movement in the order of the ids. */
export const hashDay = async (sql: Queries, { gateway, day }: AccountDay): Promise<DayHash> => {
  const [start] = await sql<{ hash: string }[]>`
    select encode(sha256(coalesce(
      (select d.hash from account_days d where d.gateway = ${gateway} and d.day = ${day}::date - 1), ''
    ) || convert_to(${`${gateway} ${day}`}, 'UTF8')), 'hex') as hash`;
  let hash = start?.hash ?? '';
  let movements = 0;
  for (let after: string | null = ''; after !== null;) {
    const [page]: { last: string | null; count: number; hash: string }[] = await sql`
      with page as (
        select * from movements
        where gateway = ${gateway} and day = ${day} and id > ${after} order by id limit ${movementsAtOnce}
      )
      select max(id) as last, count(*) as count, encode(sha256(
        decode(${hash}, 'hex') || coalesce(string_agg(movement_hash(page::movements), '' order by id), '')), 'hex') as hash
      from page`;
    after = page?.last ?? null;
    if (page && after !== null) {
      hash = page.hash;
      movements += page.count;
    }
  }
  return { hash, movements };
};
