import type { AnyRequest } from '../../../api/http/route.ts';
import type { PayerPayment } from '../../../postgres/payments/payments.ts';
import { aPayment } from './payments.ts';

/** A payment that is open at its gateway, as a payer's pages read it. */
export const aPayerPayment = (changes: Partial<PayerPayment> = {}): PayerPayment => ({
  ...aPayment(),
  ...{
    driver: 'sandbox',
    reference: 'R-1',
    opened: true,
    payerSent: true,
    verifyWindow: 1,
    isUnstarted: false,
  },
  ...{ traceId: null, paidTo: 'shop', payerLocale: null, locale: null },
  ...changes,
});

/** The request of a payer about a payment: what the handlers of the pages read of one. */
export const aPayerRequest = (
  paymentId: string,
  query = '',
  accept?: string,
  posted = '',
): AnyRequest => {
  const request: Pick<
    AnyRequest,
    'params' | 'header' | 'search' | 'readFields' | 'disconnectSignal'
  > = {
    params: { payment_id: paymentId },
    header: (name) => (name === 'accept' ? accept : undefined),
    search: () => new URLSearchParams(query),
    readFields: async () => new URLSearchParams(posted),
    disconnectSignal: () => new AbortController().signal,
  };
  return request as AnyRequest;
};
