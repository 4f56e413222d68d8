import { eventId } from './ids.ts';
import type { Payment, PaymentField } from './payment-fields.ts';
import { paymentFields } from './payment-fields.ts';
import type { TerminalStatus } from './status.ts';
import { isTerminal, terminalStatuses } from './status.ts';
import { isoTime } from './time.ts';

export const eventKind = (status: TerminalStatus) => `payment.${status}` as const;
export type EventKind = ReturnType<typeof eventKind>;
export const eventKinds = terminalStatuses.map(eventKind);

/** The one terminal event of a payment. Every delivery attempt sends these bytes of `body`. */
export interface Event {
  id: string;
  kind: EventKind;
  body: string;
  createdAt: Date;
}

/** The payment's fields in its event, in their order. Source: service interface, table 6.3. */
export const eventPaymentFields = [
  'payment_id',
  'application',
  'order_id',
  'status',
  'amount',
  'currency',
  'tracking_code',
  'card_pan_masked',
  'paid_at',
  'failure_code',
  'failure_reason',
  'test',
  'metadata',
] as const satisfies readonly PaymentField[];

/** The event of a payment that has just ended. */
export const createEvent = (payment: Payment, createdAt: Date): Event => {
  if (!isTerminal(payment.status)) throw new Error(`${payment.id} has not ended, it has no event`);
  const id = eventId(payment.id);
  const kind = eventKind(payment.status);
  const members = [
    `"event":"${kind}"`,
    `"event_id":"${id}"`,
    `"created_at":"${isoTime(createdAt)}"`,
    ...eventPaymentFields.map((name) => `"${name}":${paymentFields[name].toJson(payment)}`),
  ];
  return { id, kind, body: `{${members.join()}}`, createdAt };
};
