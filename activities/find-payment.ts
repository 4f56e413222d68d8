import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payments/outcomes.ts';
import { paymentNotFound } from '../temporal/failures.ts';

/** @throws ApplicationFailure PaymentNotFound, which Temporal does not retry */
export const findPayment = async (
  paymentOutcomes: Pick<PaymentOutcomes, 'get'>,
  id: string,
): Promise<PaymentWithAccount> => {
  const payment = await paymentOutcomes.get(id);
  if (!payment) throw paymentNotFound(id);
  return payment;
};
