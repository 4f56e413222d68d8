import type { Link } from '../../contract/link.ts';
import { linkUrl } from '../../contract/link.ts';
import type { PaymentCaller } from '../payments/new-payment.ts';

/** A payment of a link, as an application would create it. Its payer comes back to the page of the link. */
export const paymentOfLink = (
  {
    id,
    orderId,
    amount,
    currency,
    description,
    locale,
  }: Pick<Link, 'id' | 'orderId' | 'amount' | 'currency' | 'description' | 'locale'>,
  caller: PaymentCaller,
  publicBaseUrl: string,
): { caller: PaymentCaller; body: string } => ({
  // A link lets at most one payment of its order be paid, whatever the application's setting is.
  caller: { ...caller, callbackUrls: [linkUrl(id, publicBaseUrl)], ordersPaidOnce: true },
  body: JSON.stringify({
    order_id: orderId,
    amount,
    currency,
    ...(description !== null && { description }),
    ...(locale !== null && { payer: { locale } }),
  }),
});
