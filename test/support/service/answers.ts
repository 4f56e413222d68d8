import type { Answer } from './journey.ts';

interface ErrorBody {
  code: string;
  message: string;
  request_id: string;
  details: { fields: { path: string; rule: string; message: string }[]; retry_after: number };
}

/** The error in a response. */
export const errorOf = ({ json }: Pick<Answer, 'json'>) => json['error'] as ErrorBody;

/** The status of a response, and the code of its error. */
export const refusalOf = ({ status, json }: Answer) => [
  status,
  (json['error'] as ErrorBody | undefined)?.code,
];

/** The problems of a request that is not valid. */
export const problemsOf = (answer: Answer) => errorOf(answer).details.fields;

/** The values of a field in the records of a list. */
export const listed = (answer: Answer, field: string) =>
  (answer.json['data'] as Record<string, unknown>[]).map((record) => record[field]);

export const paginationOf = ({ json }: Answer) =>
  json['pagination'] as {
    page: number | null;
    per_page: number;
    has_more: boolean;
    next_cursor: string | null;
  };

/**
 * Reads a list by its cursors.
 * @param get reads the page at a cursor; without one the first
 * @param between runs between two pages
 */
export const readPages = async (
  get: (cursor: string | undefined) => Promise<Answer>,
  between: () => Promise<unknown>,
): Promise<Answer[]> => {
  const pages = [await get(undefined)];
  for (let cursor = paginationOf(pages[0]!).next_cursor; cursor !== null;) {
    await between();
    const page = await get(cursor);
    pages.push(page);
    cursor = paginationOf(page).next_cursor;
  }
  return pages;
};
