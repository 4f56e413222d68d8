import { z } from 'zod';
import { movementIdPattern, paymentIdPattern } from './ids.ts';
import { createCursors, laterThanFrom, perPage, timeRange } from './list.ts';
import { oneOf } from './request-fields.ts';
import { movementKinds } from './movement.ts';

export const movementCursors = createCursors('m1', movementIdPattern, { separator: ' ' });

/** The query of a list of movements. Values out of range are rejected, not clamped. */
export const ListMovements = z
  .object({
    kind: oneOf(movementKinds).optional().meta({ description: 'The kind of the movement.' }),
    payment_id: z
      .string()
      .regex(paymentIdPattern, { error: 'must be the id of a payment' })
      .optional()
      .meta({ description: 'The movements of one payment.' }),
    ...timeRange('Movements recorded'),
    per_page: perPage,
    cursor: movementCursors.parameter,
  })
  .refine(...laterThanFrom);
export type ListMovements = z.output<typeof ListMovements>;
