import { PaymentsError } from './errors.ts';
import type { Call } from './request.ts';

interface PageOf<T> {
  data: T[];
  pagination: { has_more: boolean; next_cursor: string | null };
}

/** A list: all entries with `for await`, all pages with `pages()`, or the first page alone. */
export interface List<T, P extends PageOf<T>> extends AsyncIterable<T> {
  /** The first page, or the page that the query asks for. */
  page(): Call<P>;
  /** Page by page. The last page of a feed has the `next_cursor` to continue from later. */
  pages(): AsyncIterable<P>;
}

/** A page is fetched when its first entry is wanted. Each cursor gets the same filters. */
export const createList = <T, P extends PageOf<T>, Q extends object>(
  query: Q,
  fetchPage: (query: Q & { cursor?: string; page?: undefined }) => Call<P>,
): List<T, P> => {
  async function* pages() {
    const seen = new Set<unknown>();
    let page = await fetchPage(query);
    yield page;
    while (page.pagination.has_more) {
      const cursor = page.pagination.next_cursor;
      // The list would never end, or begin again.
      if (!cursor || seen.has(cursor) || page.data.length === 0)
        throw new PaymentsError('A page of the list leads nowhere. Is there a proxy or a cache?');
      seen.add(cursor);
      page = await fetchPage({ ...query, page: undefined, cursor });
      yield page;
    }
  }
  return {
    page: () => fetchPage(query),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
};
