import { presentPayment } from '../../contract/payment.ts';
import { PaymentResponse } from '../../contract/responses.ts';
import type { Payments, StoredPayment } from '../../postgres/payments.ts';
import type { Caller } from '../../postgres/tokens.ts';
import { ownerOf } from '../auth/authentication.ts';
import type { Handler, Refuse, RouteSpec } from '../http/route.ts';
import { paymentExamples } from './payment-examples.ts';
import { findByPaymentId, paymentParams } from './payment-id.ts';

export const getPaymentRoute = {
  summary: 'Get one payment',
  description:
    'A payment of another application, or of the other token mode, responds `404` like one that ' +
    'does not exist.',
  params: paymentParams,
  responses: {
    200: {
      description: 'The payment as recorded.',
      content: PaymentResponse,
      examples: paymentExamples,
    },
  },
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  payments: Pick<Payments, 'get'>;
  publicBaseUrl: string;
}

export const getPaymentHandler =
  ({ payments, publicBaseUrl }: Deps): Handler<'application', typeof getPaymentRoute> =>
  async (request) => {
    const payment = await findOwnPayment(payments, request);
    return { status: 200, body: presentPayment(payment, publicBaseUrl) };
  };

interface PaymentRequest {
  caller: Caller;
  params: Readonly<Record<string, string>>;
  refuse: Refuse<'PAYMENT_NOT_FOUND'>;
}

/** The caller's payment with the id in the path. @throws PaymentError PAYMENT_NOT_FOUND */
export const findOwnPayment = async (
  payments: Pick<Payments, 'get'>,
  request: PaymentRequest,
): Promise<StoredPayment> => {
  const owner = ownerOf(request.caller);
  const payment = await findByPaymentId(request, (id) => payments.get(id, owner));
  if (!payment) throw request.refuse('PAYMENT_NOT_FOUND');
  return payment;
};
