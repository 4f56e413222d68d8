import { z } from 'zod';
import { type FieldError, PaymentError } from '../../contract/errors.ts';
import type { Alert } from '../../contract/alerts.ts';
import type { GatewayKind, NotificationAccount } from '../../contract/gateway-account.ts';
import { paymentIdPattern, refundId, refundIdPattern, slugPattern } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import type {
  Notification,
  NotificationRequest as GatewayMessage,
} from '../../gateways/gateway.ts';
import { GatewayUnavailable } from '../../gateways/errors.ts';
import type { NotificationReader } from '../../gateways/registry.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import type { Disputes } from '../../postgres/payments/disputes.ts';
import type { Gateways } from '../../postgres/gateways/gateways.ts';
import type { PaymentRef, Payments } from '../../postgres/payments/payments.ts';
import type { Refunds } from '../../postgres/refunds/refunds.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import { RepeatedRateLimitError } from '../http/rate-limiter.ts';
import type { Handler, RequestOf, RouteSpec } from '../http/route.ts';
import { type Deps as PassOnDeps, notNow, orRetry, passOnChange } from './pass-on.ts';
import { createSenders, type Senders } from './senders.ts';

const invalidMessage = 'The signature is not valid.';
const invalidSignature: FieldError = {
  path: 'signature',
  rule: 'signature',
  message: "must be the gateway's own, of these bytes and not older than 5 minutes",
};

export const notifyOfPaymentRoute = {
  summary: "Receive a gateway's notification",
  description:
    "A provider's servers report here that a payment changed. A message without the provider's own signature " +
    `is rejected; after ${limits.addressFailuresPerMinute} such messages in a minute a client address gets ` +
    '`429` for further ones. A signed message is a hint, too: the service asks the gateway. The response ' +
    "is 2xx only when the payment's workflow has received the report. Repeated messages, and messages about " +
    'unknown payments, get `200`.',
  params: z.object({
    gateway: z
      .string()
      .regex(slugPattern)
      .meta({ description: 'Slug of the account at the provider.' }),
  }),
  body: {
    bytes: `As documented by the provider, uncompressed, at most ${limits.requestBodyKb} KB.`,
  },
  validationExample: invalidSignature,
  validationMessage: invalidMessage,
  responses: { 200: { description: 'Received.' } },
  errors: ['NOT_FOUND'],
} as const satisfies RouteSpec;

type NotificationRequest = RequestOf<'gateway', typeof notifyOfPaymentRoute>;

export interface Deps extends PassOnDeps {
  gateways: Pick<Gateways, 'getNotificationAccount'>;
  payments: Pick<Payments, 'getByReference' | 'getByTrackingCode' | 'recordLostCheckout'>;
  disputes: Pick<Disputes, 'requestLook'>;
  refunds: Pick<Refunds, 'getPaymentId'>;
  /** Undefined without NOTIFICATIONS_KEY, which opens the signing secrets; no notification can be checked then. */
  readNotification: NotificationReader | undefined;
  /** Counts messages that are not signed by the gateway. */
  unverified: RateLimiter;
  metrics: Pick<ApiMetrics, 'notifications' | 'alerts'>;
  now: () => Date;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

const lostReference = 'unknown_reference' satisfies Alert;
const unknownDispute = 'dispute_unknown' satisfies Alert;

/** Checks a notification and passes it to the payment's workflow before it responds. */
export const notifyOfPaymentHandler = (
  deps: Deps,
): Handler<'gateway', typeof notifyOfPaymentRoute> => {
  const { payments, disputes, unverified, metrics, logger } = deps;
  const senders = createSenders(unverified);
  // From 0 on: if the counter started at its first alert, Prometheus would not see it increase.
  for (const alert of [lostReference, unknownDispute]) metrics.alerts.inc({ alert }, 0);
  return async (request) => {
    const gateway = request.params['gateway'] ?? '';
    const { notification, kind } = await senders.check(request.address, () =>
      readVerified(deps, request, { gateway, counted: senders.counted }),
    );
    if (notification.result === 'refund_changed') {
      const payment = await payments.getByTrackingCode(gateway, notification.trackingCode);
      if (payment) await passOnRefund(deps, payment, notification);
      metrics.notifications.inc({ gateway, payment: payment ? 'known' : 'unknown' });
      logger.info(
        { gateway, payment_id: payment?.id },
        'A gateway reported that a refund of a payment changed',
      );
    }
    if (notification.result === 'dispute_changed') {
      const payment = await payments.getByTrackingCode(gateway, notification.trackingCode);
      if (payment) await disputes.requestLook(payment.id);
      else
        raise(deps, kind, {
          alert: unknownDispute,
          message: 'A gateway reported a dispute of money that no payment here has',
          facts: { gateway, tracking_code: notification.trackingCode },
        });
      metrics.notifications.inc({ gateway, payment: payment ? 'known' : 'unknown' });
      logger.info(
        { gateway, payment_id: payment?.id },
        'A gateway reported a dispute of a payment; the sweeper will ask it',
      );
    }
    if (notification.result === 'changed' || notification.result === 'closed') {
      const payment = await payments.getByReference(gateway, notification.reference);
      if (payment) await passOn(deps, payment, { isClosed: notification.result === 'closed' });
      else reportLostReference(deps, notification, { gateway, kind });
      metrics.notifications.inc({ gateway, payment: payment ? 'known' : 'unknown' });
      logger.info(
        { gateway, payment_id: payment?.id ?? notification.paymentId },
        payment
          ? 'A gateway reported that a payment changed'
          : 'A gateway reported that an unknown payment changed',
      );
    }
    return { status: 200 };
  };
};

/** @throws PaymentError for an unknown gateway, or a message that it has not signed; counted as failures */
const readVerified = async (
  deps: Deps,
  request: NotificationRequest,
  { gateway, counted }: { gateway: string } & Pick<Senders, 'counted'>,
): Promise<{ notification: Notification; kind: GatewayKind }> => {
  const account = slugPattern.test(gateway)
    ? await deps.gateways.getNotificationAccount(gateway)
    : undefined;
  if (!account) throw counted(request.address, request.refuse('NOT_FOUND'));
  const body = await request.readBytes().catch((error: unknown) => {
    throw error instanceof PaymentError ? counted(request.address, error) : error;
  });
  const notification = read(deps, { header: request.header, body }, account);
  if (!notification) throw counted(request.address, request.refuse('NOT_FOUND'));
  if (notification.result !== 'rejected') return { notification, kind: account.gatewayKind };
  const details = { fields: [invalidSignature] };
  const invalid = request.refuse('VALIDATION_FAILED', invalidMessage, { details });
  const error = counted(request.address, invalid);
  if (!(error instanceof RepeatedRateLimitError))
    deps.logger.warn({ gateway }, 'Rejected a notification that its gateway has not signed');
  throw error;
};

/** @throws PaymentError SERVICE_UNAVAILABLE when the signature cannot be checked; the gateway will retry */
const read = (
  { readNotification }: Deps,
  message: GatewayMessage,
  account: NotificationAccount,
): Notification | undefined => {
  try {
    if (!readNotification) throw new GatewayUnavailable('NOTIFICATIONS_KEY: is missing');
    return readNotification(message, account);
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
    throw new PaymentError('SERVICE_UNAVAILABLE', notNow, { cause: error });
  }
};

/** @throws PaymentError like `orRetry` */
const passOn = async (
  deps: Deps,
  payment: PaymentRef,
  { isClosed }: { isClosed: boolean },
): Promise<void> => {
  const { id, status, payerSent } = payment;
  // A payer was there, so a checkout that is not recorded was lost.
  if (!isClosed && status !== 'paid' && !payerSent)
    await deps.payments.recordLostCheckout(id, deps.now());
  await passOnChange(deps, payment, { isClosed });
};

/**
 * A refund that Postgres does not have was made at the gateway: its workflow records it.
 * @throws PaymentError like `orRetry`
 */
const passOnRefund = async (
  { workflows, refunds }: Deps,
  { id, application, orderId, gateway }: PaymentRef,
  { refundId: ours, reference }: Extract<Notification, { result: 'refund_changed' }>,
): Promise<void> => {
  // A refund of the dashboard may carry the id of another payment's refund, whose workflow asks about that payment.
  const isOurs =
    ours !== null &&
    refundIdPattern.test(ours) &&
    [undefined, id].includes(await refunds.getPaymentId(ours));
  const refund = isOurs ? ours : refundId([gateway, reference]);
  await orRetry(workflows.recheck({ refundId: refund, id, application, orderId }));
};

/**
 * Alerts admins when a gateway reports on a payment with an id of ours, under a reference that no payment has.
 * A restore of Postgres has perhaps lost the payment, or its reference: then it was opened a second time, and
 * its payer pays the first opening.
 */
const reportLostReference = (
  deps: Deps,
  notification: Extract<Notification, { paymentId: string | null }>,
  { gateway, kind }: { gateway: string; kind: GatewayKind },
): void => {
  const { result, paymentId: id, reference } = notification;
  // A repeated opening leaves a session that nobody pays, and that closes by itself.
  if (result === 'closed' || id === null || !paymentIdPattern.test(id)) return;
  raise(deps, kind, {
    alert: lostReference,
    message: 'A gateway reported a payment under a reference that no payment has',
    facts: { payment_id: id, gateway, reference },
  });
};

/** Alerts admins, unless the account's money is not real. */
const raise = (
  { metrics, logger }: Deps,
  kind: GatewayKind,
  { alert, message, facts }: { alert: Alert; message: string; facts: object },
): void => {
  if (kind === 'sandbox') {
    logger.warn(facts, message);
    return;
  }
  metrics.alerts.inc({ alert });
  logger.error({ ...facts, alert }, message);
};
