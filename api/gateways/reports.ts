import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { refundId } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import type { Disputes } from '../../postgres/payments/disputes.ts';
import type { PaymentRef, Payments } from '../../postgres/payments/payments.ts';
import type { Refunds } from '../../postgres/refunds/refunds.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import { type Deps as PassOnDeps, orRetry, passOnChange } from './pass-on.ts';
import { createSenders } from './senders.ts';

export const reportOnPaymentRoute = {
  summary: 'Receive a report on a payment',
  description:
    'A provider that signs nothing gets a secret address for each payment, where its servers report that the payment changed. ' +
    'The body is not read, whatever it is: the service asks the gateway. The response is 2xx only when the workflow has ' +
    `received the report. A payment takes ${limits.paymentReportsPerMinute} reports a minute, and further ones get \`429\`. A ` +
    'wrong key counts like a notification without a signature.',
  params: paymentParams.extend({
    report_key: z.string().meta({ description: 'The secret of the payment.' }),
  }),
  responses: { 200: { description: 'Received.' } },
  errors: ['NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps extends PassOnDeps {
  payments: Pick<Payments, 'getForReport'>;
  disputes: Pick<Disputes, 'requestLook'>;
  refunds: Pick<Refunds, 'listToRecheck'>;
  /** Counts reports with a wrong key, by address. */
  unverified: RateLimiter;
  /** Counts reports with the right key, by payment: each one is an event in the history of its workflow. */
  reports: Pick<RateLimiter, 'hit'>;
  metrics: Pick<ApiMetrics, 'notifications'>;
  logger: Pick<Logger, 'info'>;
}

/** Passes a report on to the payment's workflow before it responds. */
export const reportOnPaymentHandler = (
  deps: Deps,
): Handler<'gateway', typeof reportOnPaymentRoute> => {
  const { payments, unverified, reports, metrics, logger } = deps;
  const senders = createSenders(unverified);
  return async (request) => {
    const payment = await senders.check(request.address, async () => {
      const found = await findByPaymentId(request, payments.getForReport);
      if (found && isSame(request.params['report_key'] ?? '', found.reportKey)) return found;
      throw senders.counted(request.address, request.refuse('NOT_FOUND'));
    });
    const { id, gateway, opened, status } = payment;
    const limitError = reports.hit(id);
    if (limitError) throw limitError;
    // A payment without a payer cannot have been paid.
    if (opened) await (status === 'paid' ? lookAgain(deps, payment) : passOnChange(deps, payment));
    metrics.notifications.inc({ gateway, payment: 'known' });
    logger.info({ gateway, payment_id: id }, 'A gateway reported that a payment changed');
    return { status: 200 };
  };
};

const isSame = (given: string, key: string | null): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(key ?? '')];
  return key !== null && one.length === other.length && timingSafeEqual(one, other);
};

/** Asks for the refunds and the disputes of a paid payment. @throws PaymentError like `orRetry` */
const lookAgain = async (
  { workflows, refunds, disputes }: Deps,
  { id, application, orderId, gateway }: PaymentRef,
): Promise<void> => {
  const known = await refunds.listToRecheck(id);
  // The workflow of a refund that nobody has records those that were made at the gateway.
  for (const refund of known.length > 0 ? known : [refundId([gateway, id])])
    await orRetry(workflows.recheck({ refundId: refund, id, application, orderId }));
  await disputes.requestLook(id);
};
