import { lengthBetween, requestObject } from './request-fields.ts';

/** The body of a cancel, which may be absent. */
export const CancelPayment = requestObject({
  reason: lengthBetween({ min: 1, max: 255 }).optional().meta({
    description: 'For people. It is shown on the payment, and not sent to the gateway.',
  }),
}).meta({ id: 'CancelPayment' });
