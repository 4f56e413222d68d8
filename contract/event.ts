import { failureReasonOf } from './failure-codes.ts';
import { eventIdOf } from './ids.ts';
import { formatObject } from './json-text.ts';
import type { Payment } from './payment.ts';
import type { TerminalStatus } from './status.ts';
import { isTerminal } from './status.ts';
import { isoTime } from './time.ts';

export const eventKindOf = (status: TerminalStatus) => `payment.${status}` as const;
export type EventKind = ReturnType<typeof eventKindOf>;

/** The one terminal event of a payment. `body` is sent as these bytes in every attempt. */
export interface Event {
  id: string;
  kind: EventKind;
  body: string;
  createdAt: Date;
}

/** The event of a payment that has just ended: source document, table 6.3, fields in its order. */
export const eventOf = (payment: Payment, createdAt: Date): Event => {
  if (!isTerminal(payment.status)) throw new Error(`${payment.id} has not ended, it has no event`);
  const id = eventIdOf(payment.id);
  const kind = eventKindOf(payment.status);
  const body = formatObject({
    event: kind,
    event_id: id,
    created_at: isoTime(createdAt),
    payment_id: payment.id,
    application: payment.application,
    order_id: payment.orderId,
    status: payment.status,
    amount: payment.amount,
    currency: payment.currency,
    tracking_code: payment.trackingCode,
    card_pan_masked: payment.cardPanMasked,
    paid_at: payment.paidAt && isoTime(payment.paidAt),
    failure_code: payment.failureCode,
    failure_reason: payment.failureCode && failureReasonOf(payment.failureCode),
    test: payment.test,
    metadata: { jsonText: payment.metadata },
  });
  return { id, kind, body, createdAt };
};
