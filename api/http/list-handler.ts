import { formatObject } from '../../contract/json-text.ts';
import type { Owner } from '../../postgres/payments.ts';
import type { Caller } from '../../postgres/tokens.ts';
import { ownerOf } from './own.ts';
import type { HandlerResult } from './route.ts';

export interface List<Query, T> {
  find: (owner: Owner, query: Query, limit: number) => Promise<T[]>;
  /** @returns JSON */
  present: (entry: T, caller: Caller) => string;
  /** The members of `pagination` that depend on the list. */
  paginate: (
    query: Query,
    page: { hasMore: boolean; last: T | undefined },
  ) => Parameters<typeof formatObject>[0];
}

/** Responds with one page of the caller's own records. */
export const listHandler =
  <Query extends { per_page: number }, T>({ find, present, paginate }: List<Query, T>) =>
  async ({ caller, query }: { caller: Caller; query: Query }): Promise<HandlerResult<200>> => {
    const { per_page } = query;
    // One more than the page holds, to learn whether there is more.
    const found = await find(ownerOf(caller), query, per_page + 1);
    const shown = found.slice(0, per_page);
    const hasMore = found.length > per_page;
    const data = shown.map((entry) => present(entry, caller)).join();
    const pagination = formatObject(paginate(query, { hasMore, last: shown.at(-1) }));
    return { status: 200, body: `{"data":[${data}],"pagination":${pagination}}` };
  };
