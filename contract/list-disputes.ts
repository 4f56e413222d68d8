import { z } from 'zod';
import { disputeStages, disputeStatuses } from './dispute.ts';
import { disputeIdPattern, paymentIdPattern } from './ids.ts';
import { createCursors, laterThanFrom, perPage, timeRange } from './list.ts';
import { oneOf } from './request-fields.ts';

export const disputeCursors = createCursors('d1', disputeIdPattern);

/** The pages of a list. */
const pages = {
  per_page: perPage,
  cursor: disputeCursors.parameter,
};

/** The query of a list of disputes. Values out of range are rejected, not clamped. */
export const ListDisputes = z
  .object({
    status: oneOf(disputeStatuses).optional(),
    stage: oneOf(disputeStages).optional(),
    payment_id: z
      .string()
      .regex(paymentIdPattern, { error: 'must be the id of a payment' })
      .optional()
      .meta({ description: 'The disputes of one payment.' }),
    ...timeRange('Disputes opened'),
    ...pages,
  })
  .refine(...laterThanFrom);
export type ListDisputes = z.output<typeof ListDisputes>;

export const ListDisputesOfPayment = z.object(pages);
export type ListDisputesOfPayment = z.output<typeof ListDisputesOfPayment>;
