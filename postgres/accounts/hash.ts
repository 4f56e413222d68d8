import type { AccountDay, MovementSum } from '../../contract/movement.ts';
import type { Queries } from '../driver/sql.ts';

/** No statement may take longer than 10 s. The size is part of the hash. */
const movementsAtOnce = 10_000;

/** The hash and the sums of a day's movements. */
export interface DayHash {
  /** Hexadecimal. */
  hash: string;
  movements: number;
  /** In the order of their keys. */
  sums: MovementSum[];
}

const keyOf = ({ application, test, kind, currency }: MovementSum): string =>
  JSON.stringify([application, test, kind, currency]);

/**
 * Calculates the hash of a day, and its sums. The hash covers the hash of the day before, and every movement in the order of
 * the ids.
 */
export const hashDay = async (sql: Queries, { gateway, day }: AccountDay): Promise<DayHash> => {
  const [start] = await sql<{ hash: string }[]>`
    select encode(sha256(coalesce(
      (select d.hash from account_days d where d.gateway = ${gateway} and d.day = ${day}::date - 1), ''
    ) || convert_to(${`${gateway} ${day}`}, 'UTF8')), 'hex') as hash`;
  let hash = start?.hash ?? '';
  let movements = 0;
  const sums = new Map<string, MovementSum>();
  for (let after: string | null = ''; after !== null;) {
    const [page]: { last: string | null; count: number; hash: string; sums: MovementSum[] }[] =
      await sql`
      with page as (
        select * from movements
        where gateway = ${gateway} and day = ${day} and id > ${after} order by id limit ${movementsAtOnce}
      )
      select max(id) as last, count(*) as count, encode(sha256(
        decode(${hash}, 'hex') || coalesce(string_agg(movement_hash(page::movements), '' order by id), '')), 'hex') as hash, (
        select coalesce(jsonb_agg(s), '[]') from (
          select application, test, kind, currency, count(*), sum(amount)::bigint as amount
          from page group by application, test, kind, currency) s) as sums
      from page`;
    after = page?.last ?? null;
    if (page && after !== null) {
      hash = page.hash;
      movements += page.count;
      for (const part of page.sums) {
        const key = keyOf(part);
        const { count, amount } = sums.get(key) ?? { count: 0, amount: 0 };
        sums.set(key, { ...part, count: count + part.count, amount: amount + part.amount });
      }
    }
  }
  const inOrder = [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { hash, movements, sums: inOrder.map(([, sum]) => sum) };
};
