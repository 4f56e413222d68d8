import type { KnownRefund, OpenedPayment } from './gateway.ts';

/** A refund of which the gateway says no more than this. The amount is in minor units. */
export const knownRefund = (
  reference: string,
  { currency }: Pick<OpenedPayment, 'currency'>,
  amount: number,
): Omit<KnownRefund, 'state'> => ({
  reference,
  refundId: null,
  amount,
  currency,
  failureCode: null,
  code: null,
  message: null,
  bankReference: null,
  expectedAt: null,
  createdAt: null,
});

/** The gateway has undone the payment. It has no id for that. */
export const reversedPayment = (payment: OpenedPayment): KnownRefund => ({
  ...knownRefund(`reversal-${payment.reference}`, payment, payment.amount),
  state: 'succeeded',
});
