import { limits } from '../../contract/limits.ts';
import type { Payment } from '../../contract/payment.ts';
import { presentPayment } from '../../contract/payment.ts';
import { PaymentResponse } from '../../contract/responses.ts';
import { isTerminal } from '../../contract/status.ts';
import type { Payments } from '../../postgres/payments.ts';
import type { Handler, Route } from '../http/route.ts';
import { findOwnPayment } from './get.ts';
import { paymentExamples } from './payment-examples.ts';
import { paymentParams } from './payment-id.ts';
import type { Verifier } from './verifier.ts';

export const verifyPaymentRoute = {
  method: 'POST',
  path: '/api/v1/payments/:payment_id/verify',
  access: 'application',
  summary: 'Verify a payment with its gateway',
  description:
    'Asks the gateway and returns the payment, ended or not. Idempotent: repeated calls lead to one ' +
    'outcome and one event. Returns the recorded payment without asking the gateway if the payment has ' +
    `ended, if its payer was never sent to the gateway, and within ${limits.verifyReuseSeconds} seconds of the ` +
    'last verification; if the gateway gave no answer then, the response is `502` again.',
  params: paymentParams,
  responses: {
    200: {
      description: 'The payment after the verification.',
      content: PaymentResponse,
      examples: { paid: paymentExamples.paid },
    },
  },
  errors: ['PAYMENT_NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
} as const satisfies Route;

export interface Deps {
  payments: Pick<Payments, 'get'>;
  verifier: Pick<Verifier, 'lastAnswer' | 'settle'>;
  publicBaseUrl: string;
}

export const verifyPaymentHandler =
  ({ payments, verifier, publicBaseUrl }: Deps): Handler<typeof verifyPaymentRoute> =>
  async (request) => {
    const present = (payment: Payment) => ({
      status: 200 as const,
      body: presentPayment(payment, publicBaseUrl),
    });
    const payment = await findOwnPayment(payments, request);
    if (isTerminal(payment.status) || !payment.sent) return present(payment);

    const hint = { returned: false };
    const recent = verifier.lastAnswer(payment.id, hint);
    const result = recent ?? (await verifier.settle(payment, hint, request.disconnectSignal()));
    // A recent result of a payment that is still open has changed nothing since `payment` was read.
    const isUpToDate = recent && recent.kind !== 'ended';
    const current = isUpToDate ? payment : await findOwnPayment(payments, request);
    if (result.kind === 'unknown' && !isTerminal(current.status))
      throw request.refuse('GATEWAY_UNAVAILABLE');
    return present(current);
  };
