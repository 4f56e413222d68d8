import { paymentIdPattern } from '../../contract/ids.ts';
import type { RouteRequest } from '../http/route.ts';

/** What is found by the payment id in a path; for what can be no id nothing is asked. */
export const byPaymentId =
  <T>(find: (id: string) => Promise<T | undefined>) =>
  async ({ params }: Pick<RouteRequest, 'params'>): Promise<T | undefined> => {
    const id = params['payment_id'] ?? '';
    return paymentIdPattern.test(id) ? find(id) : undefined;
  };
