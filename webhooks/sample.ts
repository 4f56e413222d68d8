import type { AttemptResult } from '../contract/attempt.ts';
import { createEvent, type Event, type EventKind } from '../contract/event.ts';
import { newPaymentId } from '../contract/ids.ts';
import { blankPayment } from '../contract/payment-fields.ts';
import { terminalStatuses } from '../contract/status.ts';
import type { WebhookDispatcher } from './connector.ts';
import { post } from './request.ts';
import { createHeaders } from './signature.ts';

export interface SampleRequest {
  url: string;
  application: string;
  gateway: string;
  kind: EventKind;
  /** Opened; the newer first. */
  secrets: readonly string[];
  traceparent: string | null;
  dispatcher: Pick<WebhookDispatcher, 'dispatch'>;
  signal: AbortSignal;
  now: Date;
}

/** Sends one signed sample event of a payment that does not exist. The URL must have been checked. */
export const sendSample = async (
  request: SampleRequest,
): Promise<{ sent: string; result: AttemptResult }> => {
  const { url, secrets, traceparent, dispatcher, signal, now } = request;
  const event = createSample(request);
  const body = Buffer.from(event.body);
  const outgoing = { event: { ...event, body }, attempt: 1, secrets, traceparent, now };
  const headers = createHeaders(outgoing);
  return { sent: event.body, result: await post({ url, headers, body, dispatcher, signal }) };
};

/** `test`, the order id and the metadata mark it as a sample. Its ids are new. */
const createSample = ({ application, gateway, kind, now }: SampleRequest): Event => {
  const status = terminalStatuses.find((each) => kind === `payment.${each}`) ?? 'paid';
  const isPaid = status === 'paid';
  return createEvent(
    {
      ...blankPayment,
      id: newPaymentId(),
      application,
      orderId: 'webhook-test',
      status,
      amount: 1250,
      currency: 'EUR',
      gateway,
      callbackUrl: '',
      metadata: '{"webhook_test":true}',
      test: true,
      trackingCode: isPaid ? 'webhook-test' : null,
      cardPanMasked: isPaid ? '424242******4242' : null,
      paidAt: isPaid ? now : null,
      failureCode: status === 'failed' ? 'insufficient_funds' : null,
      cancelledBy: status === 'cancelled' ? 'payer' : null,
      expiresAt: now,
      createdAt: now,
      updatedAt: now,
    },
    now,
  );
};
