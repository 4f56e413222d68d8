import type { Client } from '@temporalio/client';
import { ServiceError } from '@temporalio/client';
import { PaymentError } from '../../contract/errors.ts';
import type { RecordedAccount } from '../../contract/gateway-account.ts';
import { slugPattern } from '../../contract/ids.ts';
import { isTerminal } from '../../contract/status.ts';
import { GatewayUnavailable } from '../../gateways/errors.ts';
import type {
  Notification,
  NotificationRequest as GatewayRequest,
} from '../../gateways/gateway.ts';
import type { NotificationReader } from '../../gateways/registry.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import type { Gateways } from '../../postgres/gateways.ts';
import type { PaymentRef, Payments } from '../../postgres/payments.ts';
import type { Logger } from '../../telemetry/log.ts';
import { paymentRecheckOptions, paymentWorkflow } from '../../temporal/messages.ts';
import type { AddressLimiter } from '../http/address-limiter.ts';
import {
  createAddressSemaphore,
  RepeatedRateLimitError,
  rateLimited,
} from '../http/address-limiter.ts';
import type { LatePaymentStarter } from '../payer/late-payments.ts';
import { unsigned } from './routes.ts';
import type { Handlers, Routes } from '../routes.ts';
import type { RequestOf } from '../http/route.ts';

export interface Deps {
  gateways: Pick<Gateways, 'getAccount'>;
  payments: Pick<Payments, 'getByReference'>;
  client: Client;
  startLate: LatePaymentStarter;
  /** Undefined without the key that opens the accounts' secrets: nothing can be checked then. */
  readNotification: NotificationReader | undefined;
  /** Counts what was not signed by the gateway. */
  unverified: AddressLimiter;
  metrics: Pick<ApiMetrics, 'notifications'>;
  logger: Pick<Logger, 'info' | 'warn'>;
}

type NotificationRequest = RequestOf<Routes['notifyOfPayment']>;

const deadlineMs = 5_000;

/** News from gateways: checked, never believed, and answered once the payment's workflow has them. */
export const createNotificationHandlers = (deps: Deps): Pick<Handlers, 'notifyOfPayment'> => {
  const { gateways, payments, unverified, metrics, logger } = deps;

  const sparing = createAddressSemaphore(unverified);

  /** Counts what cannot be told from an attack, as failed authentication is counted. */
  const turnAway = (request: NotificationRequest, problem: PaymentError): PaymentError =>
    unverified.hit(request.address) ?? problem;
  const nothingHere = (request: NotificationRequest) =>
    turnAway(request, request.refuse('NOT_FOUND'));

  const check = async (request: NotificationRequest, gateway: string): Promise<Notification> => {
    const account = slugPattern.test(gateway) ? await gateways.getAccount(gateway) : undefined;
    if (!account) throw nothingHere(request);
    const body = await request.readBytes().catch((error: unknown) => {
      throw error instanceof PaymentError ? turnAway(request, error) : error;
    });
    const told = read(deps, { header: request.header, body }, account);
    if (!told) throw nothingHere(request);
    if (told.result === 'rejected') {
      const problem = request.refuse('VALIDATION_FAILED', unsigned.message, {
        details: { fields: unsigned.fields },
      });
      const answer = turnAway(request, problem);
      if (!(answer instanceof RepeatedRateLimitError))
        logger.warn({ gateway }, 'A notification was not signed by its gateway');
      throw answer;
    }
    return told;
  };

  return {
    async notifyOfPayment(request) {
      const gateway = request.params['gateway'] ?? '';
      const told = await sparing(request.address, {
        work: () => check(request, gateway),
        refuse: () => turnAway(request, rateLimited(1)),
      });
      if (told.result === 'changed') {
        const payment = await payments.getByReference(gateway, told.reference);
        const facts = { gateway, payment_id: payment?.id ?? told.paymentId };
        if (payment) await pass(deps, payment);
        metrics.notifications.inc({ gateway, payment: payment ? 'known' : 'unknown' });
        logger.info(facts, `A gateway told news of ${payment ? 'a' : 'an unknown'} payment`);
      }
      return { status: 200 };
    },
  };
};

/** @throws PaymentError SERVICE_UNAVAILABLE while nothing can be checked: the gateway repeats it then */
const read = (
  { readNotification }: Deps,
  message: GatewayRequest,
  account: RecordedAccount,
): Notification | undefined => {
  try {
    if (!readNotification) throw new GatewayUnavailable('SECRETS_KEY: is missing');
    return readNotification(message, account);
  } catch (error) {
    if (error instanceof GatewayUnavailable) throw notNow(error);
    throw error;
  }
};

/** @throws PaymentError SERVICE_UNAVAILABLE */
const pass = async ({ client, startLate }: Deps, payment: PaymentRef): Promise<void> => {
  const { id, status } = payment;
  if (status === 'paid') return;
  try {
    if (isTerminal(status)) await startLate(id);
    else await tell(client, payment);
  } catch (error) {
    if (error instanceof ServiceError) throw notNow(error);
    throw error;
  }
};

const tell = (client: Client, payment: PaymentRef) =>
  client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflow.signalWithStart(paymentWorkflow, paymentRecheckOptions(payment)),
  );

const notNow = (cause: Error) =>
  new PaymentError('SERVICE_UNAVAILABLE', 'Notifications cannot be taken now.', { cause });
