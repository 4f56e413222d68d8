import { z } from 'zod';
import { CreatePayment } from './create-payment.ts';
import { paymentIdPattern } from './ids.ts';
import { statuses } from './status.ts';

/** A position in a list: the last payment of a page. */
export interface ListPosition {
  createdAt: Date;
  id: string;
}

export const listBounds = { perPage: 100, perPageDefault: 20, depth: 10_000 } as const;

export const dayMs = 24 * 60 * 60 * 1000;
/** Postgres reads years of more than four digits differently. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const date = /^\d{4}-\d{2}-\d{2}$/;
const time =
  /^\d{4}-\d{2}-\d{2}T(?!24)\d{2}:\d{2}:\d{2}(?<fraction>\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

/** @returns undefined unless the text is a date or an RFC 3339 time from 1970 to 9999 */
const parseInstant = (text: string): number | undefined => {
  if (date.test(text)) {
    const parsed = new Date(`${text}T00:00:00Z`);
    // Date turns 30 February into 2 March.
    return parsed.getTime() >= 0 && parsed.toISOString().startsWith(text)
      ? parsed.getTime()
      : undefined;
  }
  const fraction = time.exec(text)?.groups?.['fraction'] ?? '';
  const instant = time.test(text) ? Date.parse(text.toUpperCase()) : NaN;
  if (!(instant >= 0 && instant <= latestMs) || parseInstant(text.slice(0, 10)) === undefined)
    return undefined;
  // Payments are stored to the millisecond, so a time within a millisecond means the next one.
  return instant + (/[1-9]/.test(fraction.slice(4)) ? 1 : 0);
};

/** A text instead of a schema: generators make clients that do not compile from a choice of two formats. */
export const timeRule =
  'A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an ' +
  'offset, at most 9 digits of fraction and no leap second.';

/** Documents a text that is parsed to a number as an integer. */
export const asInteger =
  (numbers: { maximum: number; default?: number }) =>
  ({ jsonSchema }: { jsonSchema: object }) => {
    Object.assign(jsonSchema, { type: 'integer', minimum: 1, ...numbers });
    Reflect.deleteProperty(jsonSchema, 'pattern');
  };

/** A bound of a time range. @param includedMs how much of its day a date includes */
export const timeBound = (includedMs: number) =>
  z.string().transform((text, ctx) => {
    const instant = parseInstant(text);
    const included = date.test(text) ? includedMs : 0;
    if (instant !== undefined) return new Date(Math.min(instant + included, latestMs));
    ctx.addIssue({
      code: 'custom',
      message: 'must be a date, or an RFC 3339 time with offset (where "+" is written %2B)',
      params: { rule: 'time' },
    });
    return z.NEVER;
  });

export const count = (max: number) => {
  const error = `must be an integer from 1 to ${max}`;
  return z
    .string()
    .regex(/^[1-9]\d{0,4}$/, { error })
    .transform(Number)
    .refine((value) => value <= max, { error, params: { rule: 'too_big' } });
};

/** A cursor, opaque to callers: the position where the last page ended. */
export const formatCursor = ({ createdAt, id }: ListPosition): string =>
  Buffer.from(`1:${createdAt.getTime()}:${id}`).toString('base64url');

const parseCursor = (cursor: string): ListPosition | undefined => {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, ms = '', id = ''] = /^1:(\d{1,14}):(.*)$/.exec(text) ?? [];
  const position = { createdAt: new Date(Math.min(Number(ms), latestMs)), id };
  // base64 has several spellings of the same bytes; only ours is accepted.
  return paymentIdPattern.test(id) && formatCursor(position) === cursor ? position : undefined;
};

/** Checks a rule even if another parameter is invalid, so that one response lists all problems. */
const always = { when: () => true };

/** The values are numbers unless they were invalid. */
const isTooDeep = (page: unknown, perPage: unknown): boolean =>
  typeof page === 'number' && typeof perPage === 'number' && page * perPage > listBounds.depth;

export const orderIdFilter = CreatePayment.shape.order_id
  .refine((text) => !text.includes('\0'), {
    error: 'must not hold the NUL character',
    params: { rule: 'nul' },
  })
  .optional()
  .meta({ description: "The application's own order reference. NUL is rejected." });

/** A cursor does not contain the filters. */
export const sameWithCursor = 'Send the same filters and `per_page` with it.';

/** The query of a list. Values out of range are rejected, not clamped. */
export const ListPayments = z
  .object({
    order_id: orderIdFilter,
    status: z.enum(statuses, { error: `must be one of ${statuses.join(', ')}` }).optional(),
    from: timeBound(0)
      .optional()
      .meta({
        description: `Payments created at this time or later; a date means its first moment in UTC. ${timeRule}`,
      }),
    to: timeBound(dayMs)
      .optional()
      .meta({
        description: `Payments created before this time; a date includes its whole day in UTC. ${timeRule}`,
      }),
    per_page: count(listBounds.perPage)
      .default(listBounds.perPageDefault)
      .meta({
        override: asInteger({
          maximum: listBounds.perPage,
          default: listBounds.perPageDefault,
        }),
      }),
    page: count(listBounds.depth)
      .optional()
      .meta({
        override: asInteger({ maximum: listBounds.depth }),
        description: `From 1, the default; page × per_page is at most ${listBounds.depth}. Use \`cursor\` to go deeper.`,
      }),
    cursor: z
      .string()
      .transform((text, ctx) => {
        const position = parseCursor(text);
        if (position) return position;
        ctx.addIssue({
          code: 'custom',
          message: 'must be the next_cursor of an earlier response',
          params: { rule: 'cursor' },
        });
        return z.NEVER;
      })
      .optional()
      .meta({
        description: `The \`next_cursor\` of the previous page, instead of \`page\`. ${sameWithCursor}`,
      }),
  })
  .refine(({ page, cursor }) => page === undefined || cursor === undefined, {
    path: ['page'],
    error: 'must not be given together with cursor',
    params: { rule: 'exclusive' },
    ...always,
  })
  .refine(({ page, per_page, cursor }) => cursor !== undefined || !isTooDeep(page, per_page), {
    path: ['page'],
    error: `times per_page must be at most ${listBounds.depth}, use cursor`,
    params: { rule: 'depth' },
    ...always,
  });
export type ListPayments = z.output<typeof ListPayments>;
