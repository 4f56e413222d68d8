import { paymentIdPattern } from '../contract/ids.ts';
import { PaymentError } from '../contract/errors.ts';
import { CreatePayment } from '../contract/create-payment.ts';
import type { Payment } from '../contract/payment.ts';
import { presentPayment } from '../contract/payment.ts';
import { isTerminal } from '../contract/status.ts';
import type { Payments, SentPayment } from '../postgres/payments.ts';
import type { Deps as CreateDeps } from './create-payment.ts';
import { createPaymentCreation } from './create-payment.ts';
import type { CallerRequest, Reply, Route } from './route.ts';
import type { Settler } from './settler.ts';

export interface Deps extends CreateDeps {
  payments: Pick<Payments, 'insert' | 'get'>;
  settler: Settler;
}

export const createPaymentRoutes = (deps: Deps): Route[] => {
  const { payments, settler, publicBaseUrl } = deps;
  const create = createPaymentCreation(deps);

  /** @throws PaymentError PAYMENT_NOT_FOUND, also for another application's or mode's payment */
  const find = async ({ caller, params }: CallerRequest): Promise<SentPayment> => {
    const id = params['payment_id'] ?? '';
    const owner = { application: caller.application, test: caller.mode === 'test' };
    const payment = paymentIdPattern.test(id) ? await payments.get(id, owner) : undefined;
    if (!payment) throw new PaymentError('PAYMENT_NOT_FOUND', 'There is no such payment.');
    return payment;
  };
  const present = (payment: Payment): Reply => ({
    status: 200,
    body: presentPayment(payment, publicBaseUrl),
  });

  return [
    {
      method: 'POST',
      path: '/api/v1/payments',
      access: 'application',
      summary: 'Create a payment',
      body: CreatePayment,
      statuses: [201],
      errors: [
        'MALFORMED_JSON',
        'INVALID_IDEMPOTENCY_KEY',
        'GATEWAY_NOT_ALLOWED',
        'PAYLOAD_TOO_LARGE',
        'UNSUPPORTED_MEDIA_TYPE',
        'VALIDATION_FAILED',
        'IDEMPOTENCY_KEY_REUSED',
      ],
      handle: create,
    },
    {
      method: 'GET',
      path: '/api/v1/payments/:payment_id',
      access: 'application',
      summary: 'Get one payment',
      statuses: [200],
      errors: ['PAYMENT_NOT_FOUND'],
      handle: async (request) => present(await find(request)),
    },
    {
      method: 'POST',
      path: '/api/v1/payments/:payment_id/verify',
      access: 'application',
      summary: 'Verify a payment with its gateway',
      statuses: [200],
      errors: ['PAYMENT_NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
      async handle(request) {
        const payment = await find(request);
        // The record answers where the gateway has nothing to say, or said it a moment ago.
        if (isTerminal(payment.status) || !payment.sent || settler.isFresh(payment.id))
          return present(payment);
        const { known } = await settler.settle(payment.id, { returned: false });
        const settled = await find(request);
        if (known === 'unknown' && !isTerminal(settled.status))
          throw new PaymentError('GATEWAY_UNAVAILABLE', 'The gateway did not give an answer.');
        return present(settled);
      },
    },
  ];
};
