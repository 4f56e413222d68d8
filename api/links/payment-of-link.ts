import { parseJson } from '../../contract/json.ts';
import { type Link, linkUrl } from '../../contract/links/link.ts';
import { type CreateRequest, type Deps, newPayment } from '../payments/new-payment.ts';

/** Makes a payment of a link, as its application would. The payer comes back to the page of the link. */
export const newPaymentOfLink = (
  deps: Deps & { publicBaseUrl: string },
  link: Pick<Link, 'id' | 'orderId' | 'amount' | 'currency' | 'description' | 'locale'>,
  { caller, refuse }: CreateRequest<'callbackUrls' | 'ordersPaidOnce' | 'allowedGateways'>,
) => {
  const { id, orderId, amount, currency, description, locale } = link;
  const sent = {
    ...{ order_id: orderId, amount, currency },
    ...(description !== null && { description }),
    ...(locale !== null && { payer: { locale } }),
  };
  // A link lets at most one payment of its order be paid, whatever the application's setting is.
  const callbackUrls = [linkUrl(id, deps.publicBaseUrl)];
  // It names no gateway.
  const own = { callbackUrls, ordersPaidOnce: true, allowedGateways: [] };
  return newPayment(
    deps,
    { caller: { ...caller, ...own }, refuse },
    parseJson(JSON.stringify(sent)),
  );
};
