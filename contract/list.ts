import { z } from 'zod';
import { CreatePayment } from './create-payment.ts';
import { limits } from './limits.ts';
import { dayMs } from './time.ts';

/** Postgres reads years of more than four digits differently. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const date = /^\d{4}-\d{2}-\d{2}$/;
/**
 * A date or a time. Languages also write RFC 3339's time without seconds, or its offset without colon. The document shows
 * it, so it has what every language's expressions know.
 */
const dateOrTime =
  /^\d{4}-\d{2}-\d{2}([Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2}))?$/;

/**
 * Many clients leave a blank before the time, and a query turns a `+` that is not encoded into one: what they mean is certain.
 */
const blanks = /^(\d{4}-\d{2}-\d{2}) (?=\d)|(?<=:\d{2}(?:\.\d+)?) (?=\d{2}:?\d{2}$)/g;
const withoutBlanks = (text: string): string =>
  text.replaceAll(blanks, (_, day?: string) => (day === undefined ? '+' : `${day}T`));

/** @returns undefined unless the text is a date or a time from 1970 to 9999 */
const parseInstant = (text: string): number | undefined => {
  if (date.test(text)) {
    const parsed = new Date(`${text}T00:00:00Z`);
    // Date turns 30 February into 2 March.
    return parsed.getTime() >= 0 && parsed.toISOString().startsWith(text)
      ? parsed.getTime()
      : undefined;
  }
  const match = dateOrTime.exec(text);
  const fraction = match?.[4] ?? '';
  const instant = match ? Date.parse(text.toUpperCase().replace(/(\d\d)(\d\d)$/, '$1:$2')) : NaN;
  if (!(instant >= 0 && instant <= latestMs) || parseInstant(text.slice(0, 10)) === undefined)
    return undefined;
  // Payments are stored to the millisecond, so a time within a millisecond means the next one.
  return instant + (/[1-9]/.test(fraction.slice(4)) ? 1 : 0);
};

/** A text instead of a schema: generators make clients that do not compile from a choice of two formats. */
export const timeRule =
  'A date (`2026-11-20`) or an RFC 3339 time (`2026-11-20T10:41:37Z`) from 1970 to 9999; a time has an ' +
  'offset, at most 9 digits of fraction and no leap second.';

/** A bound of a time range. @param includedMs how much of its day a date includes */
export const timeBound = (includedMs: number, params?: { error: string }) =>
  z
    .string(params)
    .meta({ pattern: dateOrTime.source })
    .transform((sent, ctx) => {
      const text = withoutBlanks(sent);
      const instant = parseInstant(text);
      const included = date.test(text) ? includedMs : 0;
      if (instant !== undefined) return new Date(Math.min(instant + included, latestMs));
      ctx.addIssue({
        code: 'custom',
        message: 'must be a date, or an RFC 3339 time with offset, like 2026-11-20T10:41:37Z',
        params: { rule: 'time' },
      });
      return z.NEVER;
    });

/** A day, because clocks differ and a date begins earlier elsewhere. */
const mostAheadMs = dayMs;

/** The rule of a beginning, for `refine`: nothing has happened in the future, so it is a mistake. */
export const notAhead = [
  (at: Date) => at.getTime() <= Date.now() + mostAheadMs,
  { error: 'must not be in the future', params: { rule: 'too_big' } },
] satisfies Parameters<z.ZodDate['refine']>;

/** The time range of a list. @param inRange what is listed, e.g. `Payments created` */
export const timeRange = (inRange: string) => ({
  from: timeBound(0)
    .refine(...notAhead)
    .optional()
    .meta({
      description: `${inRange} at this time or later; a date means its first moment in UTC. ${timeRule}`,
    }),
  to: timeBound(dayMs)
    .optional()
    .meta({
      description: `${inRange} before this time; a date includes its whole day in UTC. ${timeRule}`,
    }),
});

/** The rule of a range that holds nothing, for `refine`: a mistake that would otherwise read as an empty list. */
export const laterThanFrom = [
  ({ from, to }: { from?: Date | undefined; to?: Date | undefined }) => !from || !to || from < to,
  { path: ['to'], error: 'must be later than from', params: { rule: 'too_small' } },
] satisfies Parameters<z.ZodObject['refine']>;

export const orderIdFilter = CreatePayment.shape.order_id
  .refine((text) => !text.includes('\0'), {
    error: 'must not hold the NUL character',
    params: { rule: 'nul' },
  })
  .optional()
  .meta({ description: "The application's own order reference. NUL is rejected." });

/** A number of a query, which is documented as an integer. */
export const count = (max: number) => {
  const error = `must be an integer from 1 to ${max}`;
  return z
    .string()
    .regex(/^[1-9]\d{0,4}$/, { error })
    .transform(Number)
    .refine((value) => value <= max, { error, params: { rule: 'too_big' } });
};

/** Documents a text that is parsed to a number as an integer. */
export const asInteger =
  (numbers: { maximum: number; default?: number; format?: 'int64' }) =>
  ({ jsonSchema }: { jsonSchema: object }) => {
    Object.assign(jsonSchema, { type: 'integer', minimum: 1, ...numbers });
    Reflect.deleteProperty(jsonSchema, 'pattern');
  };

export const perPage = count(limits.perPage)
  .default(limits.perPageDefault)
  .meta({ override: asInteger({ maximum: limits.perPage, default: limits.perPageDefault }) });

/** A position in a list: the time that the list is ordered by, and the id. */
export interface ListPosition {
  at: Date;
  id: string;
}

/** A page of a list: the entries after a position, or the first ones. */
export interface ListPage {
  after: ListPosition | null;
  limit: number;
}

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** The filters of a list beside its page, by the names in code. Null: nothing is asked for. */
export type Filters<Query> = {
  [Name in Exclude<keyof Query, 'per_page' | 'page' | 'cursor'> & string as CamelCase<Name>]-?:
    Exclude<Query[Name], undefined> | (undefined extends Query[Name] ? null : never);
};

interface Cursor extends ListPosition {
  /** A hash of the filters that it belongs to; empty if the list does not check them. */
  filters: string;
}

/**
 * Makes the cursors of a list, opaque to callers: the position where the last page ended.
 * @param kind tells the cursors of one list from those of others
 * @param options.separator a character that no id has
 */
export const createCursors = (
  kind: string,
  idPattern: RegExp,
  {
    error = 'must be the next_cursor of an earlier response',
    separator = ':',
  }: { error?: string; separator?: string } = {},
) => {
  const format = ({ at, id, filters = '' }: ListPosition & { filters?: string }): string => {
    const parts = [kind, at.getTime(), id, ...(filters === '' ? [] : [filters])];
    return Buffer.from(parts.join(separator)).toString('base64url');
  };

  const parse = (text: string): Cursor | undefined => {
    const parts = Buffer.from(text, 'base64url').toString('latin1').split(separator);
    const [, ms = '', id = '', filters = ''] = parts;
    if (!/^\d{1,14}$/.test(ms) || !idPattern.test(id)) return undefined;
    const cursor = { at: new Date(Number(ms)), id, filters };
    // base64 has several spellings of the same bytes; only ours is accepted.
    return format(cursor) === text ? cursor : undefined;
  };

  const parameter = z
    .string()
    .meta({ pattern: '^[A-Za-z0-9_-]+$' })
    .transform((text, ctx) => {
      const cursor = parse(text);
      if (cursor) return cursor;
      ctx.addIssue({ code: 'custom', message: error, params: { rule: 'cursor' } });
      return z.NEVER;
    })
    .optional()
    .meta({
      description: 'The `next_cursor` of the previous page. Send the same filters with it.',
    });
  return { format, parameter };
};
