import type { Payment } from '../../contract/payment.ts';
import type { Status } from '../../contract/status.ts';

/** Sends the payer back to the application. The added parameters replace the callback URL's own. */
export const redirectToCallback = (payment: Payment, status: Status) => {
  const url = new URL(payment.callbackUrl);
  url.searchParams.set('payment_id', payment.id);
  url.searchParams.set('order_id', payment.orderId);
  url.searchParams.set('status', status);
  return { status: 303 as const, headers: { location: url.href } };
};
