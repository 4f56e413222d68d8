import { onTestFinished } from 'vitest';
import { startGateways } from '../../../chaos/gateways.ts';
import type { Behaviour, CreatedPayment } from '../../../chaos/scenarios.ts';
import { newEntry } from '../../fakes/server.ts';

export const receipt = { trackingCode: '1234567890', card: '502229******1234' };

interface VisitOptions {
  slug?: string;
  behaviour?: Behaviour;
}

/** A payment whose payer was sent to the gateway. */
export const aVisit = async ({ slug = 'zarinpal', behaviour = 'pay' }: VisitOptions = {}) => {
  const gateways = await startGateways();
  onTestFinished(async () => void (await Promise.all(gateways.map((each) => each.stop()))));
  const gateway = gateways.find((each) => each.slug === slug)!; // One of its accounts.
  const reference = 'reference';
  const payment: CreatedPayment = {
    id: 'PAY_1',
    order: 'order-1',
    orderId: 'order-1',
    afterMs: 0,
    behaviour,
    gateway,
    candidates: [gateway],
    named: {},
    createdAt: Date.now(),
    pages: new Set(),
    amount: 50_000,
    reference,
    currency: gateway.currency,
    expiresInSeconds: 60,
    expiresAt: Date.now() + 60_000,
  };
  const entry = {
    ...newEntry({
      amount: gateway.toGatewayAmount(payment.amount),
      currency: gateway.gatewayCurrency,
      paymentId: payment.id,
      returnUrl: '',
      state: gateway.openState,
    }),
    ...receipt,
  };
  gateway.provider.book.set(reference, entry);
  return { gateways, gateway, payment, reference, entry };
};
