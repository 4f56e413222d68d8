import { z } from 'zod';
import { paymentIdPattern } from '../../contract/ids.ts';
import { PaymentId } from '../../contract/payment-responses.ts';
import type { RouteRequest } from '../http/route.ts';

export const paymentParams = z.object({ payment_id: PaymentId });

/** Finds by the payment id in the path; does not query for a text that cannot be an id. */
export const findByPaymentId = async <T>(
  { params }: Pick<RouteRequest, 'params'>,
  find: (id: string) => Promise<T | undefined>,
): Promise<T | undefined> => {
  const id = params['payment_id'] ?? '';
  return paymentIdPattern.test(id) ? find(id) : undefined;
};
