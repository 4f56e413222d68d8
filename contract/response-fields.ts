import { z } from 'zod';
import { limits } from './limits.ts';

/**
 * A set of texts that may grow within v1. Clients that a generator makes from a closed enum reject the whole
 * response at the first new value.
 */
export const openEnum = <const T extends string>(values: readonly T[]) =>
  z.union([z.enum(values), z.string()]);

/** A time as the service writes it: ISO 8601 in UTC with milliseconds and `+00:00`. */
export const time = (meaning: string) =>
  z.iso
    .datetime({ offset: true, precision: 3 })
    .refine((text) => text.endsWith('+00:00'))
    .meta({ description: `${meaning} ISO 8601 in UTC with milliseconds, written \`+00:00\`.` });

export const nullableText = (description: string) => z.string().nullable().meta({ description });

/** The members of `pagination` that every list has. */
export const paginationFields = (nextCursor: string) => ({
  per_page: z.int().min(1).max(limits.perPage),
  has_more: z.boolean(),
  next_cursor: nullableText(nextCursor),
});
