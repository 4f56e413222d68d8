import type { z } from 'zod';
import { PaymentError } from '../../contract/errors.ts';
import { formatObject } from '../../contract/json-text.ts';
import type { Filters, ListPage, ListPosition } from '../../contract/list.ts';
import type { Owner, Payments } from '../../postgres/payments/payments.ts';
import type { Caller } from '../../postgres/applications/tokens.ts';
import { ownerOf } from './owned-records.ts';
import type { HandlerResult } from './route.ts';

/** The problem of a `per_page` of 0. */
export const perPageExample = {
  path: 'per_page',
  rule: 'invalid_format',
  message: 'must be an integer from 1 to 100',
};

interface PageQuery {
  per_page: number;
  cursor?: ListPosition | undefined;
}

/** The entries of a page. */
interface FoundPage<T> {
  hasMore: boolean;
  last: T | undefined;
}

export interface List<Query, T> {
  /** The schema of the query: its members are the filters and the page. */
  query: z.ZodObject & z.ZodType<Query>;
  find: (filter: Owner & Filters<Query>, page: ListPage, query: Query) => Promise<T[]>;
  /** @returns JSON */
  present: (entry: T, caller: Caller) => string;
  nextCursor: (page: FoundPage<T>, query: Query) => string | null;
  /** Checks what a filter names once nothing was found: a wrong id must not look like an empty list. */
  checkNames?: (filter: Owner & Filters<Query>) => Promise<void>;
  /** A member of `pagination` that this list alone has. */
  pageNumber?: (query: Query) => { page?: number | null };
}

/** For `checkNames`. @throws PaymentError PAYMENT_NOT_FOUND */
export const checkPayment =
  (payments: Pick<Payments, 'get'>) =>
  async ({ paymentId, ...owner }: Owner & { paymentId: string | null }): Promise<void> => {
    if (paymentId !== null && !(await payments.get(paymentId, owner)))
      throw new PaymentError('PAYMENT_NOT_FOUND');
  };

/** The `next_cursor` of a list that has a last page. */
export const cursorAfter =
  <T extends { id: string }>(
    { format }: { format: (position: ListPosition) => string },
    timeOf: (entry: T) => Date,
  ) =>
  ({ hasMore, last }: FoundPage<T>): string | null =>
    hasMore && last ? format({ at: timeOf(last), id: last.id }) : null;

const pageNames = new Set(['per_page', 'page', 'cursor']);

/** Every filter of the query, null if it is not given: none gets lost on the way to Postgres. */
const filtersOf = <Query extends object>({ shape }: z.ZodObject, query: Query): Filters<Query> => {
  const given = new Map<string, unknown>(Object.entries(query));
  const filters = Object.keys(shape)
    .filter((name) => !pageNames.has(name))
    .map((name) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      given.get(name) ?? null,
    ]);
  // The schema, which has made the query, has all of its names.
  return Object.fromEntries(filters) as Filters<Query>;
};

/** Responds with one page of the caller's own records. */
export const listHandler =
  <Query extends PageQuery, T>({
    query: schema,
    find,
    present,
    nextCursor,
    checkNames,
    pageNumber = () => ({}),
  }: List<Query, T>) =>
  async ({ caller, query }: { caller: Caller; query: Query }): Promise<HandlerResult<200>> => {
    const { per_page, cursor = null } = query;
    const filter = { ...filtersOf(schema, query), ...ownerOf(caller) };
    // One more than the page holds, to learn whether there is more.
    const found = await find(filter, { after: cursor, limit: per_page + 1 }, query);
    if (found.length === 0) await checkNames?.(filter);
    const shown = found.slice(0, per_page);
    const hasMore = found.length > per_page;
    const data = shown.map((entry) => present(entry, caller)).join();
    const pagination = formatObject({
      ...pageNumber(query),
      per_page,
      has_more: hasMore,
      next_cursor: nextCursor({ hasMore, last: shown.at(-1) }, query),
    });
    return { status: 200, body: `{"data":[${data}],"pagination":${pagination}}` };
  };
