import { z } from 'zod';
import { limits } from './limits.ts';

/**
 * A set of texts that may grow within v1. Clients that a generator makes from a closed enum reject the whole
 * response at the first new value. oapi-codegen makes a struct of a union, which holds no text where the field may be null;
 * with the extension it makes a string.
 */
export const openEnum = <const T extends string>(values: readonly T[]) =>
  z.union([z.enum(values), z.string()]).meta({ 'x-go-type': 'string' });

/** A time as the service writes it: ISO 8601 in UTC with milliseconds and `+00:00`. */
export const time = (meaning: string) =>
  z.iso
    .datetime({ offset: true, precision: 3 })
    .refine((text) => text.endsWith('+00:00'))
    .meta({ description: `${meaning} ISO 8601 in UTC with milliseconds, written \`+00:00\`.` });

export const nullableText = (description: string) => z.string().nullable().meta({ description });

const untilLastPage = 'Send it as `cursor` to get the next page; null on the last page.';

/** The members of `pagination` that every list has. */
export const paginationFields = (nextCursor = untilLastPage) => ({
  per_page: z.int().min(1).max(limits.perPage),
  has_more: z.boolean(),
  next_cursor: nullableText(nextCursor),
});

/** A page of a list. @param name that of an entry in the document */
export const listOf = <Entry extends z.ZodType, Pagination extends z.ZodRawShape>(
  name: string,
  entry: Entry,
  pagination: Pagination,
) =>
  z
    .strictObject({
      data: z.array(entry).max(limits.perPage),
      pagination: z.strictObject(pagination).meta({ id: `${name}Pagination` }),
    })
    .meta({ id: `${name}List` });
