import { PaymentResponse } from '../../contract/payment-responses.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import { findOwnPayment } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { paymentExamples } from './payment-examples.ts';
import { paymentParams } from './payment-id.ts';
import { presentOwnPayment } from './present.ts';

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
    return { status: 200, body: presentOwnPayment(payment, publicBaseUrl) };
  };
