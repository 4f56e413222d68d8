import { limits } from '../../contract/limits.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import { pageHeaders } from '../http/response-headers.ts';
import type { Handler, RequestOf, RouteSpec } from '../http/route.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import type { Starter } from '../payments/starter.ts';
import { redirectToCallback } from './callback.ts';
import { type Visit, visitOf } from './language.ts';
import {
  linkPage,
  redirectToGateway,
  retryingPage,
  unknownPaymentPage,
  waitPage,
} from './pages.ts';
import { createCheckouts, mustWait } from './shared-checkouts.ts';
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
      headers: pageHeaders,
      content: 'page',
    },
    202: {
      description: 'A page that reloads by itself: the gateway opens the payment.',
      headers: [...pageHeaders, 'refresh'],
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
      headers: [...pageHeaders, 'retry-after', 'refresh'],
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

const reloadSeconds = 3;

/** The page that is shown if the work takes too long. */
interface Seen {
  visit: Visit;
}

const waitPageOf = (visit: Visit) => waitPage(visit, 'preparing', reloadSeconds);

export const checkoutHandler = (deps: Deps): Handler<'payer', typeof checkoutRoute> => {
  const checkouts = createCheckouts((ids) => deps.payments.sendToGateway(ids, deps.now()));
  return async (request) => {
    const seen: Seen = { visit: visitOf(request) };
    const work = checkOut({ ...deps, checkouts }, request, seen);
    return orWaitingPage(request, work, () => waitPageOf(seen.visit));
  };
};

/** A payer may be faster than the workflow that opens the payment; the handler then waits for it. */
const checkOut = async (
  { payments, starter, checkouts }: Deps & { checkouts: ReturnType<typeof createCheckouts> },
  request: RequestOf<'payer', typeof checkoutRoute>,
  seen: Seen,
) => {
  if (request.isHead) {
    const found = await findByPaymentId(request, payments.getForPayer);
    if (!found) return unknownPaymentPage(seen.visit);
    return found.status === 'pending'
      ? linkPage(seen.visit)
      : redirectToCallback(found, found.status);
  }
  const signal = request.disconnectSignal();
  const cameAt = performance.now();
  const patienceMs = isBrowser(request) ? showAfterMs : limits.checkoutSeconds * 1000;
  let payment = await findByPaymentId(request, checkouts.first);
  if (!payment) return unknownPaymentPage(seen.visit);
  const { id } = payment;
  const visit = visitOf(request, payment);
  seen.visit = visit;
  let isStarted = false;
  while (mustWait(payment)) {
    if (payment.isUnstarted && !isStarted) {
      isStarted = true;
      await starter.startNow(payment);
    }
    if (performance.now() - cameAt > patienceMs)
      return isBrowser(request)
        ? waitPageOf(visit)
        : retryingPage(visit, 503, 'preparing', reloadSeconds);
    signal.throwIfAborted();
    payment = (await checkouts.again(id, cameAt)) ?? payment;
  }
  if (payment.redirect) return redirectToGateway(visit, payment.redirect);
  return redirectToCallback(payment, payment.status);
};
