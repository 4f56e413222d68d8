import { limits } from '../contract/limits.ts';
import type { ListPage } from '../contract/list.ts';
import type { Fragment, Queries } from './driver/sql.ts';

/** The condition of each member of a filter, for a value that is given. */
export type Conditions<Filter> = {
  [Name in keyof Filter]-?: (value: NonNullable<Filter[Name]>) => Fragment;
};

/**
 * The conditions of a filter, each after an `and`. The query has only those whose member is given, not null, so that each
 * list finds its index. A member without a condition does not compile: no filter is accepted and ignored.
 */
export const conditionsOf = <Filter extends object>(
  sql: Queries,
  filter: Filter,
  conditions: Conditions<NoInfer<Filter>>,
): Fragment => {
  let all = sql``;
  for (const name of Object.keys(conditions) as (keyof Filter)[]) {
    const value = filter[name];
    if (value !== null)
      all = sql`${all} and ${conditions[name](value as NonNullable<typeof value>)}`;
  }
  return all;
};

/** Some of the times of a list; null: without this bound. */
export interface TimeRange {
  /** Included. */
  from: Date | null;
  /** Not included. */
  to: Date | null;
}

/** The columns that order a list, and from which end it is read. */
export interface ListOrder {
  at: Fragment;
  id: Fragment;
  isOldestFirst?: boolean;
}

/**
 * The conditions of a time range and of the position after which a page begins. With two bounds on one side, an index scan
 * may start at the looser one: only the tighter one is written.
 */
export const rangeOf = (
  sql: Queries,
  { from, to }: TimeRange,
  after: ListPage['after'],
  { at, id, isOldestFirst = false }: ListOrder,
): Fragment => {
  const isLower = after && isOldestFirst && !(from && after.at < from);
  const isUpper = after && !isOldestFirst && !(to && to <= after.at);
  const position = after ? sql`(${after.at}, ${after.id})` : sql``;
  const lower = isLower ? sql`and (${at}, ${id}) > ${position}` : from && sql`and ${at} >= ${from}`;
  const upper = isUpper ? sql`and (${at}, ${id}) < ${position}` : to && sql`and ${at} < ${to}`;
  return sql`${lower ?? sql``} ${upper ?? sql``}`;
};

const defaultLimit = limits.perPageDefault + 1;
/**
 * The limit of a page. That of a default page, which has one more to learn whether there is more, is a literal: with a
 * parameter Postgres would plan the query each time.
 */
export const limitTo = (sql: Queries, limit: number): Fragment =>
  limit === defaultLimit ? sql.unsafe(`limit ${defaultLimit}`) : sql`limit ${limit}`;
