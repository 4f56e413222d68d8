import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import { returnUrl } from '../../contract/payment-fields.ts';
import type { Status } from '../../contract/status.ts';
import { isTerminal } from '../../contract/status.ts';
import { findDriver, parseReturn } from '../../gateways/registry.ts';
import type { PayerPayment, Payments } from '../../postgres/payments/payments.ts';
import type { Logger } from '../../telemetry/log.ts';
import { pageHeaders } from '../http/response-headers.ts';
import type { Handler, RequestOf, RouteSpec } from '../http/route.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import type { Verify } from '../payments/verifier.ts';
import { redirectToCallback } from './callback.ts';
import type { GatewayBudget } from './gateway-budget.ts';
import type { SearchLate } from './late-payments.ts';
import { ownParameters, type ShownPayment, visitOf, waitsUntil } from './language.ts';
import { unknownPaymentPage, waitPage } from './pages.ts';
import { orWaitingPage } from './waiting.ts';

const shared = {
  description:
    'The gateway sends the payer here. The parameters that it adds are a hint and never proof: the ' +
    'service asks the gateway, for at most 10 seconds; returns within the same ' +
    `${limits.verifyReuseSeconds} seconds share one verification. A browser (\`Accept: text/html\`) shows a page within a ` +
    'second meanwhile. Then the payer continues to the ' +
    'callback URL with `payment_id`, `order_id` and `status`, which is `processing` if the outcome is ' +
    'not certain yet.',
  params: paymentParams,
  responses: {
    202: {
      description: 'A page that reloads by itself: the gateway is asked.',
      headers: [...pageHeaders, 'refresh'],
      content: 'page',
    },
    303: {
      description: "To the application's callback URL, or to the page that waits.",
      headers: ['location'],
    },
  },
  errors: ['PAYMENT_NOT_FOUND'],
} as const;

export const returnFromGatewayRoute = {
  ...shared,
  summary: 'Return from the gateway',
} as const satisfies RouteSpec;

export const returnFromGatewayByPostRoute = {
  ...shared,
  summary: 'Return from a gateway that uses POST',
  body: { fields: "The gateway's own fields, which count instead of those of the query." },
} as const satisfies RouteSpec;

type ReturnRequest = RequestOf<'payer', typeof returnFromGatewayRoute>;

export interface Deps {
  payments: Pick<Payments, 'getForPayer' | 'recordLostCheckout' | 'recordReturnProof'>;
  verify: Verify;
  searchLate: SearchLate;
  budget: Pick<GatewayBudget, 'take'>;
  publicBaseUrl: string;
  now: () => Date;
  logger: Pick<Logger, 'info' | 'warn'>;
}

const waitMaxMs = 10_000;
/** Left for the start of a late-payment search when the gateway has used up the wait. */
const lateStartMinMs = 1_000;

const reloadSeconds = 1;
const showPage = (request: ReturnRequest, payment?: ShownPayment) =>
  waitPage(visitOf(request, payment), 'asking', reloadSeconds);

export const returnHandler =
  (deps: Deps): Handler<'payer', typeof returnFromGatewayRoute> =>
  (request) =>
    takeBack(deps, request);

export const returnByPostHandler =
  (deps: Deps): Handler<'payer', typeof returnFromGatewayByPostRoute> =>
  async (request) => {
    const posted = await request.readFields();
    return takeBack(deps, request, posted.size > 0 ? posted : undefined);
  };

const takeBack = (deps: Deps, request: ReturnRequest, posted?: URLSearchParams) => {
  const fields = posted ?? request.search();
  const search = ownParameters(request.search());
  const ends = Number(search.get(waitsUntil) ?? 0);
  const latest = Date.now() + waitMaxMs;
  const arrival = arrive(deps, request, fields);
  // Anybody can write a time. A time later than any that this service sets has no meaning.
  if (ends > 0 && ends <= latest)
    return orWaitingPage(request, readAgain(request, arrival, ends), () => showPage(request));
  const work = comeBack(deps, request, { arrival, fields, deadline: latest });
  return orWaitingPage(request, work, async () => {
    // A browser does not send a form again.
    if (posted) await arrival;
    search.set(waitsUntil, String(latest));
    const address = returnUrl(request.params['payment_id'] ?? '', deps.publicBaseUrl);
    return { status: 303 as const, headers: { location: `${address}?${String(search)}` } };
  });
};

type Arrival = Promise<PayerPayment | undefined>;

/** Finds the payment, and keeps what the next call to its gateway needs of the fields. */
const arrive = async (deps: Deps, request: ReturnRequest, fields: URLSearchParams): Arrival => {
  const payment = await findByPaymentId(request, deps.payments.getForPayer);
  if (payment && !request.isHead) await keepProof(deps, payment, fields);
  return payment;
};

/** The checks of `payments__return_proof`. */
const proofPattern = /^[ -~]{1,200}$/;

const keepProof = async (
  { payments, logger }: Deps,
  { id, driver, reference, status }: PayerPayment,
  fields: URLSearchParams,
): Promise<void> => {
  if (reference === null || status === 'paid') return;
  const proof = findDriver(driver)?.readProof?.(fields, { id, reference });
  if (proof === undefined) return;
  if (proofPattern.test(proof)) await payments.recordReturnProof(id, reference, proof);
  else logger.warn({ payment_id: id }, 'The proof of a return has no valid form; it is dropped');
};

/** The request before has begun the verification, so a page that waits for it only reads. */
const readAgain = async (request: ReturnRequest, arrival: Arrival, deadline: number) => {
  const payment = await arrival;
  if (!payment) return unknownPaymentPage(visitOf(request));
  const { status } = payment;
  if (status === 'pending' && Date.now() < deadline) return showPage(request, payment);
  return redirectToCallback(payment, isTerminal(status) ? status : 'processing');
};

interface Coming {
  arrival: Arrival;
  fields: URLSearchParams;
  deadline: number;
}

const comeBack = async (
  deps: Deps,
  request: ReturnRequest,
  { arrival, fields, deadline }: Coming,
) => {
  const payment = await arrival;
  if (!payment) return unknownPaymentPage(visitOf(request));
  if (!payment.opened) return redirectToCallback(payment, payment.status);
  if (request.isHead)
    return redirectToCallback(payment, isTerminal(payment.status) ? payment.status : 'processing');
  // Only a gateway sends payers here, so a checkout that is not recorded was lost.
  if (!payment.payerSent) await recordLostCheckout(deps, payment.id);

  const hadEnded = isTerminal(payment.status);
  const status = hadEnded
    ? payment.status
    : await verifyReturned(deps, payment, { request, fields });
  // The payer may have paid after the end, or at the deadline itself.
  const mayBeLate = status === 'expired' || (hadEnded && status !== 'paid');
  if (mayBeLate) {
    const leftMs = Math.max(deadline - Date.now(), lateStartMinMs);
    await deps.searchLate(payment, leftMs);
  }
  return redirectToCallback(payment, status);
};

/** Verifies with the gateway. Never throws: the payer continues, and the sweeper or the deadline follows up. */
const verifyReturned = async (
  { payments, verify, budget, logger }: Deps,
  payment: PayerPayment,
  { request, fields }: { request: ReturnRequest; fields: URLSearchParams },
): Promise<Status> => {
  const says = parseReturn(payment.driver, fields);
  logger.info({ payment_id: payment.id, says }, 'The payer returned');
  const hint = { returned: true, cancelled: says === 'cancelled' };
  // Pages that share an update of the workflow ask the gateway once.
  const update = `${payment.id} ${payment.verifyWindow} ${hint.cancelled}`;
  const waitMs = budget.take(payment.gateway, 'return', update);
  if (waitMs === undefined) return 'processing';
  if (waitMs > 0) await sleep(waitMs);
  const onError = (error: unknown): undefined => {
    logger.warn(
      { payment_id: payment.id, err: error },
      'Could not verify a returned payment; the sweeper will',
    );
  };
  // Not cancelled when the payer closes the page: the verification is needed anyway.
  const result = await verify(payment, hint).catch(onError);
  if (result?.kind === 'ended') return result.status;
  const current = await findByPaymentId(request, payments.getForPayer).catch(onError);
  return current && isTerminal(current.status) ? current.status : 'processing';
};

/** Never throws: the payer continues, and the verification asks the gateway. */
const recordLostCheckout = async ({ payments, now, logger }: Deps, id: string): Promise<void> => {
  try {
    await payments.recordLostCheckout(id, now());
  } catch (error) {
    logger.warn({ payment_id: id, err: error }, 'Could not record the checkout of a return');
  }
};
