import { z } from 'zod';
import { lengthBetween } from './request-fields.ts';

/** The body of a cancel, which may be absent. */
export const CancelPayment = z
  .strictObject(
    {
      reason: lengthBetween({ min: 1, max: 255 }).optional().meta({
        description: 'For people. It is shown on the payment, and not sent to the gateway.',
      }),
    },
    { error: 'must be an object' },
  )
  .meta({ id: 'CancelPayment' });
