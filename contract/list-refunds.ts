import { z } from 'zod';
import { refundIdPattern } from './ids.ts';
import { createCursors, laterThanFrom, orderIdFilter, perPage, timeRange } from './list.ts';
import { oneOf } from './request-fields.ts';
import { refundStatuses } from './refund.ts';

export const refundCursors = createCursors('r1', refundIdPattern);

/** The pages of a list. */
const pages = {
  per_page: perPage,
  cursor: refundCursors.parameter,
};

/** The query of a list of refunds. Values out of range are rejected, not clamped. */
export const ListRefunds = z
  .object({
    order_id: orderIdFilter,
    status: oneOf(refundStatuses).optional(),
    ...timeRange('Refunds created'),
    ...pages,
  })
  .refine(...laterThanFrom);
export type ListRefunds = z.output<typeof ListRefunds>;

export const ListRefundsOfPayment = z.object(pages);
export type ListRefundsOfPayment = z.output<typeof ListRefundsOfPayment>;
