import { onTestFinished } from 'vitest';
import { startGateways } from '../../../chaos/gateways.ts';
import type { Created, Story } from '../../../chaos/wishes.ts';
import { newEntry } from '../../fakes/server.ts';

export const receipt = { trackingCode: '1234567890', card: '502229******1234' };

interface VisitOptions {
  slug?: string;
  story?: Story;
  amount?: number;
  /** What the gateway was told, where that is not what it should have been. */
  wire?: { amount?: number; currency?: string };
}

/** A payment whose payer was sent to a gateway. */
export const aVisit = async ({
  slug = 'zarinpal',
  story = 'pay',
  amount = 50_000,
  wire = {},
}: VisitOptions = {}) => {
  const gateways = await startGateways();
  onTestFinished(async () => void (await Promise.all(gateways.map((each) => each.stop()))));
  const gateway = gateways.find((each) => each.slug === slug)!; // One of the four.
  const reference = 'reference';
  const payment: Created = {
    ...{ id: 'PAY_1', order: 'order-1', story, gateway, amount, reference },
    ...{ currency: slug === 'stripe' ? 'EUR' : 'IRR' },
    ...{ expiresInSeconds: 60, expiresAt: Date.now() + 60_000 },
  };
  const told = { amount: gateway.wireOf(amount), currency: gateway.wireCurrency, ...wire };
  const entry = {
    ...newEntry({ ...told, paymentId: payment.id, returnUrl: '', state: open[slug] ?? '' }),
    ...receipt,
  };
  gateway.provider.book.set(reference, entry);
  return { gateway, payment, reference, entry };
};

const open: Record<string, string> = {
  ...{ zarinpal: 'IN_BANK', zibal: '-1', payping: '0', stripe: 'open unpaid' },
};
