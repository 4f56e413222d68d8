import type { Payment } from '../../contract/payment.ts';
import { presentPayment } from '../../contract/payment.ts';
import { isTerminal } from '../../contract/status.ts';
import type { Payments, StoredPayment } from '../../postgres/payments.ts';
import type { Caller } from '../../postgres/tokens.ts';
import { ownerOf } from '../auth/authentication.ts';
import { byPaymentId } from './by-payment-id.ts';
import type { Deps as CreateDeps } from './create.ts';
import { createPaymentCreation } from './create.ts';
import { createPaymentList } from './list.ts';
import type { Handlers } from '../routes.ts';
import type { Refuse } from '../http/route.ts';
import type { Verify } from './verifier.ts';

export interface Deps extends CreateDeps {
  payments: Pick<Payments, 'insert' | 'get' | 'list'>;
  verify: Verify;
}

interface PaymentRequest {
  caller: Caller;
  params: Readonly<Record<string, string>>;
  refuse: Refuse<'PAYMENT_NOT_FOUND'>;
}

export const createPaymentHandlers = (
  deps: Deps,
): Pick<Handlers, 'createPayment' | 'listPayments' | 'getPayment' | 'verifyPayment'> => {
  const { payments, verify, publicBaseUrl } = deps;

  /** @throws PaymentError PAYMENT_NOT_FOUND, also for another application's or mode's payment */
  const find = async ({ caller, params, refuse }: PaymentRequest): Promise<StoredPayment> => {
    const payment = await byPaymentId((id) => payments.get(id, ownerOf(caller)))({ params });
    if (!payment) throw refuse('PAYMENT_NOT_FOUND');
    return payment;
  };
  const present = (payment: Payment) => ({
    status: 200 as const,
    body: presentPayment(payment, publicBaseUrl),
  });

  return {
    createPayment: createPaymentCreation(deps),
    listPayments: createPaymentList(deps),
    getPayment: async (request) => present(await find(request)),
    async verifyPayment(request) {
      const payment = await find(request);
      // The record answers where the gateway has nothing to say.
      if (isTerminal(payment.status) || !payment.sent) return present(payment);
      const { kind } = await verify(payment, { returned: false }, request.disconnectSignal());
      const verified = await find(request);
      if (kind === 'unknown' && !isTerminal(verified.status))
        throw request.refuse('GATEWAY_UNAVAILABLE');
      return present(verified);
    },
  };
};
