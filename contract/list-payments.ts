import { z } from 'zod';
import { CreatePayment } from './create-payment.ts';
import { paymentIdPattern } from './ids.ts';
import { statuses } from './status.ts';

/** A place in a list: the last payment that was shown. */
export interface ListPosition {
  createdAt: Date;
  id: string;
}

export const listBounds = { perPage: 100, perPageDefault: 20, depth: 10_000 } as const;

const dayMs = 24 * 60 * 60 * 1000;
/** Later years have more digits, which Postgres reads otherwise. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const date = /^\d{4}-\d{2}-\d{2}$/;
const time =
  /^\d{4}-\d{2}-\d{2}T(?!24)\d{2}:\d{2}:\d{2}(?<fraction>\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

/** @returns undefined for what is no date and no RFC 3339 time from 1970 to 9999. */
const instantOf = (text: string): number | undefined => {
  if (date.test(text)) {
    const parsed = new Date(`${text}T00:00:00Z`);
    // 30 February would become 2 March.
    return parsed.getTime() >= 0 && parsed.toISOString().startsWith(text)
      ? parsed.getTime()
      : undefined;
  }
  const fraction = time.exec(text)?.groups?.['fraction'] ?? '';
  const instant = time.test(text) ? Date.parse(text.toUpperCase()) : NaN;
  if (!(instant >= 0 && instant <= latestMs) || instantOf(text.slice(0, 10)) === undefined)
    return undefined;
  // Payments are written to the millisecond, so what is asked for within one means the next.
  return instant + (/[1-9]/.test(fraction.slice(4)) ? 1 : 0);
};

/** In words alone: of a choice between two formats generators make clients that do not compile. */
const timeRule =
  'A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an ' +
  'offset, at most 9 digits of fraction and no leap second.';

/** For the OpenAPI document, which is not told what a text is turned into. */
const shownCount =
  (numbers: { maximum: number; default?: number }) =>
  ({ jsonSchema }: { jsonSchema: object }) => {
    Object.assign(jsonSchema, { type: 'integer', minimum: 1, ...numbers });
    Reflect.deleteProperty(jsonSchema, 'pattern');
  };

const bound = (includedMs: number) =>
  z.string().transform((text, ctx) => {
    const instant = instantOf(text);
    const included = date.test(text) ? includedMs : 0;
    if (instant !== undefined) return new Date(Math.min(instant + included, latestMs));
    ctx.addIssue({
      code: 'custom',
      message: 'must be a date, or an RFC 3339 time with offset (where "+" is written %2B)',
      params: { rule: 'time' },
    });
    return z.NEVER;
  });

const count = (max: number) => {
  const error = `must be an integer from 1 to ${max}`;
  return z
    .string()
    .regex(/^[1-9]\d{0,4}$/, { error })
    .transform(Number)
    .refine((value) => value <= max, { error, params: { rule: 'too_big' } });
};

/** Opaque to callers; it says no more than where the last page ended. */
export const cursorOf = ({ createdAt, id }: ListPosition): string =>
  Buffer.from(`1:${createdAt.getTime()}:${id}`).toString('base64url');

const positionOf = (cursor: string): ListPosition | undefined => {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, ms = '', id = ''] = /^1:(\d{1,14}):(.*)$/.exec(text) ?? [];
  const position = { createdAt: new Date(Math.min(Number(ms), latestMs)), id };
  // Written back, it must be the same: base64 has several spellings.
  return paymentIdPattern.test(id) && cursorOf(position) === cursor ? position : undefined;
};

/** A rule that is judged also where another parameter is wrong: everything is told at once. */
const always = { when: () => true };

/** Of what could be read as numbers. */
const isTooDeep = (page: unknown, perPage: unknown): boolean =>
  typeof page === 'number' && typeof perPage === 'number' && page * perPage > listBounds.depth;

/** A place in a list says nothing of what the list was narrowed to. */
export const sameWithCursor = 'Send the same filters and `per_page` with it.';

/** The query of a list, contract section 3; out of range is refused, not clamped. */
export const ListPayments = z
  .object({
    order_id: CreatePayment.shape.order_id
      .refine((text) => !text.includes('\0'), {
        error: 'must not hold the NUL character',
        params: { rule: 'nul' },
      })
      .optional()
      .meta({ description: "The application's own order reference; NUL is refused." }),
    status: z.enum(statuses, { error: `must be one of ${statuses.join(', ')}` }).optional(),
    from: bound(0)
      .optional()
      .meta({
        description: `Created then or later; a date is its first moment in UTC. ${timeRule}`,
      }),
    to: bound(dayMs)
      .optional()
      .meta({
        description: `Created earlier than then; a date includes its day in UTC. ${timeRule}`,
      }),
    per_page: count(listBounds.perPage)
      .default(listBounds.perPageDefault)
      .meta({
        override: shownCount({
          maximum: listBounds.perPage,
          default: listBounds.perPageDefault,
        }),
      }),
    page: count(listBounds.depth)
      .optional()
      .meta({
        override: shownCount({ maximum: listBounds.depth }),
        description: `From 1, the default; page × per_page is at most ${listBounds.depth}. Use \`cursor\` to go deeper.`,
      }),
    cursor: z
      .string()
      .transform((text, ctx) => {
        const position = positionOf(text);
        if (position) return position;
        ctx.addIssue({
          code: 'custom',
          message: 'must be the next_cursor of an earlier answer',
          params: { rule: 'cursor' },
        });
        return z.NEVER;
      })
      .optional()
      .meta({
        description: `The \`next_cursor\` of the page before; instead of \`page\`. ${sameWithCursor}`,
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
