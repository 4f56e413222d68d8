import { setTimeout as sleep } from 'node:timers/promises';
import type { Payment } from '../../contract/payment.ts';
import type { Status } from '../../contract/status.ts';
import { isTerminal } from '../../contract/status.ts';
import { parseReturn } from '../../gateways/registry.ts';
import type { PayerPayment, Payments } from '../../postgres/payments.ts';
import type { Logger } from '../../telemetry/log.ts';
import { byPaymentId } from '../payments/by-payment-id.ts';
import type { ThrottledStarter } from './late-payments.ts';
import { problemPage, retryingPage, toGateway } from './pages.ts';
import type { RequestOf } from '../http/route.ts';
import type { Handlers, Routes } from '../routes.ts';
import type { Verifier } from '../payments/verifier.ts';
import type { Starter } from '../payments/starter.ts';

export interface Deps {
  payments: Pick<Payments, 'getForPayer' | 'isOpened' | 'sendToGateway'>;
  verifier: Pick<Verifier, 'lastAnswer' | 'settle'>;
  starter: Pick<Starter, 'startNow'>;
  startLate: ThrottledStarter;
  now: () => Date;
  logger: Pick<Logger, 'info' | 'warn'>;
}

const patienceMs = 10_000;
/** For a start of a workflow where the gateway has used up the payer's patience. */
const leastMs = 1_000;
const firstPauseMs = 40;
const longestPauseMs = 460;

type PayerHandlers = Pick<Handlers, 'checkout' | 'returnFromGateway' | 'returnFromGatewayByPost'>;

/** The payer's way to the gateway and back. The payment's id in the link is the permission. */
export const createPayerHandlers = (deps: Deps): PayerHandlers => {
  const back = createReturn(deps);
  return {
    checkout: createCheckout(deps),
    returnFromGateway: back,
    returnFromGatewayByPost: (request) => back(request),
  };
};

/** Waits for the opening where the payer is faster than the workflow. */
const createCheckout = ({ payments, starter, now }: Deps): PayerHandlers['checkout'] => {
  const find = byPaymentId(payments.getForPayer);
  const send = byPaymentId((id) => payments.sendToGateway(id, now()));
  return async (request) => {
    let started = false;
    let pauseMs = 0;
    const signal = request.disconnectSignal();
    const until = Date.now() + patienceMs;
    for (;;) {
      const redirect = await send(request);
      if (redirect) return toGateway(redirect);
      const payment = await find(request);
      if (!payment) return unknownPayment();
      if (payment.status !== 'pending') return toCallback(payment, payment.status);
      if (payment.inOutbox && !started) {
        started = true;
        await starter.startNow(payment);
      }
      do {
        if (Date.now() + pauseMs > until) return notOpenedYet();
        await sleep(pauseMs, undefined, { signal });
        pauseMs = Math.min(pauseMs * 2 || firstPauseMs, longestPauseMs);
      } while (!(await payments.isOpened(payment.id)));
    }
  };
};

type ReturnRequest = RequestOf<Routes['returnFromGateway' | 'returnFromGatewayByPost']>;

/** The return is a hint, never proof: the outcome is what the gateway says when it is asked. */
const createReturn = (deps: Deps): PayerHandlers['returnFromGateway'] => {
  const { payments, verifier, logger } = deps;
  const find = byPaymentId(payments.getForPayer);

  const settle = async (payment: PayerPayment, request: ReturnRequest): Promise<Status> => {
    // The payer goes on; the sweep or the deadline finds the outcome.
    const passOver = (error: unknown): undefined => {
      logger.warn({ payment_id: payment.id, err: error }, 'A return could not be settled');
    };
    const says = parseReturn(payment.driver, request.search());
    logger.info({ payment_id: payment.id, says }, 'A payer came back');
    const told = { returned: true, cancelled: says === 'cancelled' };
    // Also for a payer who has closed the page meanwhile: what follows is to be done all the same.
    const standing =
      verifier.lastAnswer(payment.id, told) ??
      (await verifier.settle(payment, told).catch(passOver));
    if (standing?.kind === 'ended') return standing.status;
    const settled = await find(request).catch(passOver);
    return settled && isTerminal(settled.status) ? settled.status : 'processing';
  };

  return async (request) => {
    const payment = await find(request);
    if (!payment) return unknownPayment();
    if (!payment.sent) return toCallback(payment, payment.status);
    const until = Date.now() + patienceMs;
    const cameLate = isTerminal(payment.status);
    const status = cameLate ? payment.status : await settle(payment, request);
    // Who comes back after the end, or at the deadline itself, may have paid in vain.
    if (status === 'expired' || (cameLate && status !== 'paid')) {
      const leftMs = Math.max(until - Date.now(), leastMs);
      await lookForMoney(deps, payment, leftMs);
    }
    return toCallback(payment, status);
  };
};

const lookForMoney = async (
  { startLate, logger }: Deps,
  { id }: Payment,
  withinMs: number,
): Promise<void> => {
  try {
    await startLate(id, withinMs);
  } catch (error) {
    // The payer goes on; a notification or the sweep may tell of it as well.
    logger.warn({ payment_id: id, err: error }, 'Nobody looks for late money of a return');
  }
};

const unknownPayment = () =>
  problemPage(
    404,
    'Payment not found',
    'This link does not belong to a payment. Please go back to the shop.',
  );

const notOpenedYet = () => retryingPage(503, 'Your payment is being prepared.', 3);

const toCallback = (payment: Payment, status: Status) => {
  const url = new URL(payment.callbackUrl);
  url.searchParams.set('payment_id', payment.id);
  url.searchParams.set('order_id', payment.orderId);
  url.searchParams.set('status', status);
  return { status: 303 as const, headers: { location: url.href } };
};
