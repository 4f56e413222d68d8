import { z } from 'zod';
import { paymentIdPattern } from './ids.ts';
import { limits } from './limits.ts';
import {
  asInteger,
  count,
  createCursors,
  laterThanFrom,
  orderIdFilter,
  perPage,
  timeRange,
} from './list.ts';
import { oneOf } from './request-fields.ts';
import { statuses } from './status.ts';

export const paymentCursors = createCursors('1', paymentIdPattern);

/** Checks a rule even if another parameter is invalid, so that one response lists all problems. */
const always = { when: () => true };

/** The values are numbers unless they were invalid. */
const isTooDeep = (page: unknown, onPage: unknown): boolean =>
  typeof page === 'number' && typeof onPage === 'number' && page * onPage > limits.listDepth;

/** A cursor does not contain the filters. */
export const sameWithCursor = 'Send the same filters and `per_page` with it.';

/** The query of a list. Values out of range are rejected, not clamped. */
export const ListPayments = z
  .object({
    order_id: orderIdFilter,
    status: oneOf(statuses).optional(),
    ...timeRange('Payments created'),
    per_page: perPage,
    page: count(limits.listDepth)
      .optional()
      .meta({
        override: asInteger({ maximum: limits.listDepth }),
        description: `From 1, the default; page × per_page is at most ${limits.listDepth}. Use \`cursor\` to go deeper.`,
      }),
    cursor: paymentCursors.parameter.meta({
      description: `The \`next_cursor\` of the previous page, instead of \`page\`. ${sameWithCursor}`,
    }),
  })
  .refine(...laterThanFrom)
  .refine(({ page, cursor }) => page === undefined || cursor === undefined, {
    path: ['page'],
    error: 'must not be given together with cursor',
    params: { rule: 'exclusive' },
    ...always,
  })
  .refine(({ page, per_page, cursor }) => cursor !== undefined || !isTooDeep(page, per_page), {
    path: ['page'],
    error: `times per_page must be at most ${limits.listDepth}, use cursor`,
    params: { rule: 'depth' },
    ...always,
  });
export type ListPayments = z.output<typeof ListPayments>;
