import { z } from 'zod';
import { linkIdPattern } from '../ids.ts';
import { linkStatuses } from './link.ts';
import { createCursors, laterThanFrom, orderIdFilter, perPage, timeRange } from '../list.ts';
import { oneOf } from '../request-fields.ts';

export const linkCursors = createCursors('l1', linkIdPattern);

/** The query of a list of links. Values out of range are rejected, not clamped. */
export const ListLinks = z
  .object({
    status: oneOf(linkStatuses).optional(),
    order_id: orderIdFilter,
    ...timeRange('Links made'),
    per_page: perPage,
    cursor: linkCursors.parameter,
  })
  .refine(...laterThanFrom);
export type ListLinks = z.output<typeof ListLinks>;
