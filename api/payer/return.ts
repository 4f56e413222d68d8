import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import { returnUrl } from '../../contract/payment-fields.ts';
import type { Status } from '../../contract/status.ts';
import { isTerminal } from '../../contract/status.ts';
import { parseReturn } from '../../gateways/registry.ts';
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
  summary: 'Return from the gateway' as string, // Both routes have one type, and so one handler.
} as const satisfies RouteSpec;

export const returnFromGatewayByPostRoute = {
  ...shared,
  summary: 'Return from a gateway that uses POST' as string,
} as const satisfies RouteSpec;

type ReturnRequest = RequestOf<'payer', typeof returnFromGatewayRoute>;

export interface Deps {
  payments: Pick<Payments, 'getForPayer' | 'recordLostCheckout'>;
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
  async (request) => {
    const search = ownParameters(request.search());
    const ends = Number(search.get(waitsUntil) ?? 0);
    const latest = Date.now() + waitMaxMs;
    // Anybody can write a time. A time later than any that this service sets has no meaning.
    if (ends > 0 && ends <= latest)
      return orWaitingPage(request, readAgain(deps, request, ends), () => showPage(request));
    return orWaitingPage(request, comeBack(deps, request, latest), async () => {
      search.set(waitsUntil, String(latest));
      const address = returnUrl(request.params['payment_id'] ?? '', deps.publicBaseUrl);
      return { status: 303, headers: { location: `${address}?${String(search)}` } };
    });
  };

/** The request before has begun the verification, so a page that waits for it only reads. */
const readAgain = async ({ payments }: Deps, request: ReturnRequest, deadline: number) => {
  const payment = await findByPaymentId(request, payments.getForPayer);
  if (!payment) return unknownPaymentPage(visitOf(request));
  const { status } = payment;
  if (status === 'pending' && Date.now() < deadline) return showPage(request, payment);
  return redirectToCallback(payment, isTerminal(status) ? status : 'processing');
};

const comeBack = async (deps: Deps, request: ReturnRequest, deadline: number) => {
  const payment = await findByPaymentId(request, deps.payments.getForPayer);
  if (!payment) return unknownPaymentPage(visitOf(request));
  if (!payment.opened) return redirectToCallback(payment, payment.status);
  if (request.isHead)
    return redirectToCallback(payment, isTerminal(payment.status) ? payment.status : 'processing');
  // Only a gateway sends payers here, so a checkout that is not recorded was lost.
  if (!payment.payerSent) await recordLostCheckout(deps, payment.id);

  const hadEnded = isTerminal(payment.status);
  const status = hadEnded ? payment.status : await verifyReturned(deps, payment, request);
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
  request: ReturnRequest,
): Promise<Status> => {
  const says = parseReturn(payment.driver, request.search());
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
