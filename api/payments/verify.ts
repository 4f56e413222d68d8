import { limits } from '../../contract/limits.ts';
import { PaymentResponse } from '../../contract/payment-responses.ts';
import { isTerminal } from '../../contract/status.ts';
import type { OwnPayment, Payments } from '../../postgres/payments/payments.ts';
import { findOwnPayment } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import type { SearchLate } from '../payer/late-payments.ts';
import { paymentExamples } from './payment-examples.ts';
import { paymentParams } from './payment-id.ts';
import { presentOwnPayment } from './present.ts';
import type { Verify } from './verifier.ts';

export const verifyPaymentRoute = {
  summary: 'Verify a payment with its gateway',
  description:
    'Asks the gateway and returns the payment, ended or not. Idempotent: repeated calls lead to one ' +
    'outcome and one event. Returns the recorded payment without asking the gateway if the payment has ' +
    `ended or is not open at its gateway yet. Calls within the same ${limits.verifyReuseSeconds} seconds ` +
    'share one verification; if the gateway gave no answer to it, each of them gets `502`.',
  params: paymentParams,
  responses: {
    200: {
      description: 'The payment after the verification.',
      content: PaymentResponse,
      examples: { paid: paymentExamples.paid },
    },
  },
  errors: ['PAYMENT_NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
} as const satisfies RouteSpec;

export interface Deps {
  payments: Pick<Payments, 'get' | 'recordLostCheckout'>;
  verify: Verify;
  searchLate: SearchLate;
  now: () => Date;
  publicBaseUrl: string;
}

export const verifyPaymentHandler =
  ({
    payments,
    verify,
    searchLate,
    publicBaseUrl,
    now,
  }: Deps): Handler<'application', typeof verifyPaymentRoute> =>
  async (request) => {
    const present = (payment: OwnPayment) => ({
      status: 200 as const,
      body: presentOwnPayment(payment, publicBaseUrl),
    });
    const payment = await findOwnPayment(payments, request);
    if (!payment.opened) return present(payment);
    // The application may know of a payer at the gateway whom a restore of Postgres has lost.
    if (!payment.payerSent) await payments.recordLostCheckout(payment.id, now());
    if (isTerminal(payment.status)) {
      if (!payment.payerSent) void searchLate(payment);
      return present(payment);
    }

    const result = await verify(payment, { returned: false }, request.disconnectSignal());
    const current = await findOwnPayment(payments, request);
    if (result.kind === 'unknown' && !isTerminal(current.status))
      throw request.refuse('GATEWAY_UNAVAILABLE');
    return present(current);
  };
