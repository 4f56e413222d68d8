import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import type { CheckoutPayment, Payments } from '../../postgres/payments.ts';
import type { Handler, RequestOf, RouteSpec } from '../http/route.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import type { Starter } from '../payments/starter.ts';
import { redirectToCallback } from './callback.ts';
import {
  linkPage,
  redirectToGateway,
  retryingPage,
  unknownPaymentPage,
  waitPage,
} from './pages.ts';
import { isBrowser, orWaitingPage, showAfterMs } from './waiting.ts';

export const checkoutRoute = {
  summary: 'Send the payer to the gateway',
  description:
    "Open it in the payer's browser. It waits until the gateway has opened the payment. A browser (`Accept: text/html`) " +
    `shows a page within a second meanwhile; a program gets its answer after at most ${limits.checkoutSeconds} seconds.`,
  params: paymentParams,
  responses: {
    200: {
      description: 'A form that submits itself, for gateways that need POST.',
      headers: ['content-security-policy'],
      content: 'page',
    },
    202: {
      description: 'A page that reloads by itself: the gateway opens the payment.',
      headers: ['content-security-policy', 'refresh'],
      content: 'page',
    },
    302: {
      description: 'To the gateway, while the payment is `pending`.',
      headers: ['location'],
    },
    303: {
      description: "To the application's callback URL, when the payment is no longer `pending`.",
      headers: ['location'],
    },
    503: {
      description: 'A page that reloads by itself: the gateway has not opened the payment yet.',
      headers: ['content-security-policy', 'retry-after', 'refresh'],
      content: 'page',
    },
  },
  errors: ['PAYMENT_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  payments: Pick<Payments, 'sendToGateway' | 'getForPayer'>;
  starter: Pick<Starter, 'startNow'>;
  now: () => Date;
}

const firstPauseMs = 40;
const longestPauseMs = 1_000;
const reloadSeconds = 3;
const text = 'Your payment is being prepared.';

/** The payment is still being opened. */
const mustWait = ({ redirect, status }: CheckoutPayment): boolean =>
  redirect === null && status === 'pending';

const waitPageOf = () => waitPage(text, reloadSeconds);

export const checkoutHandler =
  (deps: Deps): Handler<'payer', typeof checkoutRoute> =>
  async (request) =>
    orWaitingPage(request, checkOut(deps, request), waitPageOf);

/** A payer may be faster than the workflow that opens the payment; the handler then waits for it. */
const checkOut = async (
  { payments, starter, now }: Deps,
  request: RequestOf<'payer', typeof checkoutRoute>,
) => {
  if (request.isHead) {
    const found = await findByPaymentId(request, payments.getForPayer);
    if (!found) return unknownPaymentPage();
    return found.status === 'pending' ? linkPage() : redirectToCallback(found, found.status);
  }
  const signal = request.disconnectSignal();
  const deadline = Date.now() + (isBrowser(request) ? showAfterMs : limits.checkoutSeconds * 1000);
  let payment = await findByPaymentId(request, (id) => payments.sendToGateway(id, now()));
  if (!payment) return unknownPaymentPage();
  const { id } = payment;
  let isStarted = false;
  for (let pauseMs = 0; mustWait(payment);) {
    if (payment.isUnstarted && !isStarted) {
      isStarted = true;
      await starter.startNow(payment);
    }
    if (Date.now() + pauseMs > deadline)
      return isBrowser(request) ? waitPageOf() : retryingPage(503, text, reloadSeconds);
    await sleep(pauseMs, undefined, { signal });
    pauseMs = Math.min(pauseMs * 2 || firstPauseMs, longestPauseMs);
    payment = (await payments.sendToGateway(id, now())) ?? payment;
  }
  if (payment.redirect) return redirectToGateway(payment.redirect);
  return redirectToCallback(payment, payment.status);
};
